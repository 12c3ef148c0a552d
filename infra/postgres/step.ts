import type pg from 'pg';
import type { UserMessage } from '../../contract/agent-messages.ts';
import { delegatingStepOf } from '../../contract/sub-agent.ts';
import { PLATFORM, type NativeFrame, type StampedFrame } from '../../contract/frames.ts';
import { stepsOf } from '../../contract/sub-agent.ts';
import { saysNothing, type TranslateFrame } from '../../contract/translation.ts';
import { linkArtifacts, type NewArtifactLink } from './artifact-link.ts';
import { injectInput, takeNextOrClose } from './input-queue.ts';
import type { StepWriter } from './lane-append.ts';
import { appendToLanes } from './lane.ts';
import { insertMessages, type NewMessage } from './message.ts';
import { lockThreadOfRun, readRun } from './run.ts';
import { inTransaction, type Queryable } from './transaction.ts';

export interface StepRow {
  readonly run_id: string;
  readonly step_index: number;
  readonly kind: 'model' | 'tool' | 'turn';
  readonly attempt: number;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  readonly label: string;
  readonly content_hash: string | null;
  readonly result: string | null;
  /** Why an attempt failed, as JSON text `{code, message}`. */
  readonly error: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

export type OpenedStep =
  /** This attempt may write the step; `attempt` is its fencing token. */
  | {
      readonly state: 'opened';
      readonly writer: StepWriter;
      readonly repeated: boolean;
      /** A user's input that waited and was put into the session with it. */
      readonly injected: UserMessage | null;
    }
  /** The step has its result already: an attempt committed it and died before it could say so. */
  | { readonly state: 'done'; readonly result: string }
  | { readonly state: 'cancelled' };

/**
 * Opens a step for one attempt and fences every earlier one (design, invariant 4).
 *
 * **Contract:** a step that is done is never opened again. `repeated` says that an earlier attempt began and left no result:
 * whether it may be done again is the caller's to decide, before any side effect. A model step takes the input that is due at it,
 * once: a repeat finds it in the session.
 */
export async function openStep(
  pool: pg.Pool,
  step: { runId: string; stepIndex: number; kind: StepRow['kind']; label: string },
): Promise<OpenedStep> {
  const { runId, stepIndex, kind, label } = step;
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    const existing = await findStep(client, runId, stepIndex);
    if (existing !== null && existing.status !== 'running') {
      return existing.status === 'cancelled'
        ? { state: 'cancelled' }
        : { state: 'done', result: existing.result ?? '{}' };
    }
    if (run.cancel_requested_at !== null || run.settled_at !== null) return { state: 'cancelled' };
    const attempt = (existing?.attempt ?? 0) + 1;
    await client.query({
      name: 'step-open',
      text: `insert into step (run_id, step_index, kind, label, attempt, status)
             values ($1, $2, $3, $4, 1, 'running')
             on conflict (run_id, step_index) do update set attempt = $5, started_at = now()`,
      values: [runId, stepIndex, kind, label, attempt],
    });
    const writer = { stepIndex, attempt };
    const frame: NativeFrame = { type: 'step.started', step: stepIndex, kind, attempt };
    const takesInput = kind === 'model' && existing === null && delegatingStepOf(stepIndex) === null;
    const injected = takesInput ? await injectInput(client, runId, stepIndex) : null;
    const outcomes = await appendToLanes(client, [
      {
        runId,
        provider: PLATFORM,
        writer: null,
        translate: saysNothing,
        frames: [{ at: Date.now(), frame }],
        also: { openStep: writer },
      },
      ...(injected?.says ?? []),
    ]);
    for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
    return { state: 'opened', writer, repeated: existing !== null, injected: injected?.message ?? null };
  });
}

export interface StepEnd {
  readonly runId: string;
  readonly writer: StepWriter;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly provider: string;
  readonly translate: TranslateFrame;
  readonly frames: readonly StampedFrame[];
  /** What the engine's session gains with this step. */
  readonly messages: readonly NewMessage[];
  /** What the frames refer to: stored before, linked to the run with them. */
  readonly artifacts?: readonly NewArtifactLink[];
  /** Small JSON text that a repeated activity returns instead of doing the step again. */
  readonly result: string;
  /** The step is a natural stop of its run: this is its result if input waits; if none does, the run takes no more input. */
  readonly resultIfInputWaits?: string;
  /** SHA-256 of the step's content: part of the watermark. */
  readonly contentHash: string;
}

/**
 * Ends a step: its last frames, what they refer to, its messages and its result, in one transaction. Gives the result.
 *
 * @throws TidemarkError `lane_fenced` or `lane_sealed`: another attempt has the step, and nothing of this is stored.
 */
export async function endStep(pool: pg.Pool, end: StepEnd): Promise<string> {
  const { runId, writer, status, translate } = end;
  return await inTransaction(pool, async (client) => {
    const frame: NativeFrame = { type: 'step.ended', step: writer.stepIndex, status };
    const outcomes = await appendToLanes(client, [
      { runId, provider: end.provider, writer, frames: end.frames, translate },
      {
        runId,
        provider: PLATFORM,
        writer: null,
        translate,
        frames: [
          {
            at: Date.now(),
            frame,
          },
        ],
        also: { closeStep: writer.stepIndex },
      },
    ]);
    for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
    await linkArtifacts(client, runId, end.artifacts ?? []);
    await insertMessages(client, runId, writer.stepIndex, end.messages);
    const result = await resultOf(client, end);
    await client.query({
      name: 'step-end',
      text: `update step set status = $3, result = $4, content_hash = $5, ended_at = now()
              where run_id = $1 and step_index = $2`,
      values: [runId, writer.stepIndex, status, result, end.contentHash],
    });
    return result;
  });
}

/** Under the thread's lock, which the lane's append has taken. */
async function resultOf(client: Queryable, { runId, writer, result, resultIfInputWaits }: StepEnd): Promise<string> {
  if (resultIfInputWaits === undefined) return result;
  const next = await takeNextOrClose(client, { runId, nextStep: writer.stepIndex + 1 });
  return next === 'continue' ? resultIfInputWaits : result;
}

export async function findStep(db: Queryable, runId: string, stepIndex: number): Promise<StepRow | null> {
  const { rows } = await db.query<StepRow>({
    name: 'step-find',
    text: 'select * from step where run_id = $1 and step_index = $2',
    values: [runId, stepIndex],
  });
  return rows[0] ?? null;
}

export async function listSteps(db: Queryable, runId: string): Promise<StepRow[]> {
  const { rows } = await db.query<StepRow>({
    name: 'step-list',
    text: 'select * from step where run_id = $1 order by step_index',
    values: [runId],
  });
  return rows;
}

/** Keeps why an attempt failed, in safe words, for the settlement to tell; refused quietly when the step is another's now. */
export async function noteStepError(
  db: Queryable,
  failed: { runId: string; stepIndex: number; attempt: number; error: { code: string; message: string } },
): Promise<void> {
  await db.query({
    name: 'step-note-error',
    text: `update step set error = $4 where run_id = $1 and step_index = $2 and attempt = $3 and status = 'running'`,
    values: [failed.runId, failed.stepIndex, failed.attempt, JSON.stringify(failed.error)],
  });
}

/** The newest error that a step noted: of the run's own agent, or of one of its sub-agents. */
export async function lastStepError(
  db: Queryable,
  runId: string,
  delegatingStep: number | null = null,
): Promise<{ code: string; message: string } | null> {
  const { first, last } = stepsOf(delegatingStep);
  const { rows } = await db.query<{ error: string }>({
    name: 'step-last-error',
    text: `select error from step
            where run_id = $1 and step_index between $2 and $3 and error is not null
            order by step_index desc
            limit 1`,
    values: [runId, first, last],
  });
  return rows[0] === undefined ? null : (JSON.parse(rows[0].error) as { code: string; message: string });
}

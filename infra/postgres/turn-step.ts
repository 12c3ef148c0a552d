import type pg from 'pg';
import { PLATFORM, type StampedFrame } from '../../contract/frames.ts';
import type { PlatformFrame } from '../../contract/platform-frames.ts';
import { saysNothing } from '../../contract/translation.ts';
import { insertCaptureLoss, type CaptureLoss } from './capture-loss.ts';
import { beginGeneration, commitHead, markDurability, type SessionBinding } from './harness-session.ts';
import type { LaneAppend, StepWriter } from './lane-append.ts';
import { appendToLanes } from './lane.ts';
import { insertMessages, type NewMessage } from './message.ts';
import { lockThreadOfRun, readRun } from './run.ts';
import type { StepRow } from './step.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** What became of the attempt at the turn before this one. */
export interface EarlierAttempt {
  /** `lost`: nobody saw it end. `parked`: it was stopped because a person had not answered. */
  readonly kind: 'lost' | 'parked';
  /** An attempt had given the engine the turn: what its tools did stays done. */
  readonly prompted: boolean;
}

export type OpenedTurn =
  | {
      readonly state: 'opened';
      readonly writer: StepWriter;
      readonly earlier: EarlierAttempt | null;
      /** Attempts that were lost, and this one. */
      readonly begun: number;
    }
  | { readonly state: 'done'; readonly result: string }
  | { readonly state: 'cancelled' };

const PROMPTED = '{"outcome":"prompted"}';
export const PARKED = '{"outcome":"parked"}';

/**
 * Opens a step for an attempt at an opaque engine's turn. An attempt that died is closed as lost, which fences it; the new one is a
 * step of its own, since what the engine did and said stays (design, invariant 10).
 *
 * **Contract:** a turn that has its end is not opened again.
 */
export async function openTurnStep(
  pool: pg.Pool,
  { runId, label }: { runId: string; label: string },
): Promise<OpenedTurn> {
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    const last = await lastTurnStep(client, runId);
    const isParked = last?.status === 'completed' && last.result === PARKED;
    if (last !== null && last.status !== 'running' && !isParked) {
      return last.status === 'cancelled' ? { state: 'cancelled' } : { state: 'done', result: last.result ?? '{}' };
    }
    if (run.cancel_requested_at !== null || run.settled_at !== null) return { state: 'cancelled' };
    const isLost = last?.status === 'running';
    const stepIndex = last === null ? 0 : last.step_index + 1;
    const appends: LaneAppend[] = [];
    if (last !== null && isLost) {
      await endStepRow(client, {
        runId,
        stepIndex: last.step_index,
        status: 'failed',
        result: last.result,
        hash: null,
      });
      appends.push(
        platformAppend(runId, [{ type: 'step.ended', step: last.step_index, status: 'lost' }], last.step_index),
      );
    }
    await client.query({
      name: 'turn-step-open',
      text: `insert into step (run_id, step_index, kind, label, attempt, status) values ($1, $2, 'turn', $3, 1, 'running')`,
      values: [runId, stepIndex, label],
    });
    const writer = { stepIndex, attempt: 1 };
    const started: PlatformFrame = { type: 'step.started', step: stepIndex, kind: 'turn', attempt: 1 };
    appends.push({ ...platformAppend(runId, [started]), also: { openStep: writer } });
    await appendAll(client, appends);
    const earlier: EarlierAttempt | null =
      last === null ? null : { kind: isLost ? 'lost' : 'parked', prompted: await wasPrompted(client, runId) };
    return { state: 'opened', writer, earlier, begun: (await lostTurns(client, runId)) + 1 };
  });
}

/**
 * Says that a new engine process has the session: its generation and its capabilities, on the stream and in the row.
 *
 * @throws TidemarkError `lane_fenced` or `lane_sealed`: another attempt has the turn.
 */
export async function openGeneration(
  pool: pg.Pool,
  opening: {
    writer: StepWriter;
    binding: SessionBinding;
    source: string;
    resumed: boolean;
    reconciling: string | null;
  },
): Promise<number> {
  const { writer, binding, source, resumed, reconciling } = opening;
  const { runId, capabilities, nativeSessionId } = binding;
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const generation = await beginGeneration(client, binding);
    const opened: PlatformFrame = {
      type: 'session.opened',
      capabilities,
      source,
      ...(nativeSessionId === null ? {} : { nativeSessionId }),
      generation,
      resumed,
    };
    const marker: PlatformFrame[] =
      reconciling === null ? [] : [{ type: 'session.reconciling', generation, detail: reconciling }];
    await appendAll(client, [fence(runId, writer), platformAppend(runId, [...marker, opened])]);
    return generation;
  });
}

/** Notes, before the engine is given the turn, that from now on it may have side effects. */
export async function markPrompted(db: Queryable, runId: string, writer: StepWriter): Promise<void> {
  await db.query({
    name: 'turn-step-prompted',
    text: `update step set result = $3 where run_id = $1 and step_index = $2 and status = 'running'`,
    values: [runId, writer.stepIndex, PROMPTED],
  });
}

export interface TurnStepEnd {
  readonly runId: string;
  readonly writer: StepWriter;
  readonly status: 'completed' | 'failed' | 'cancelled';
  /** Null while the engine had no session. */
  readonly session: { readonly threadId: string; readonly engine: string; readonly generation: number } | null;
  /** `commit`: the session holds the turn, and is the head from now on. `uncertain`: nobody knows what of it the session holds. */
  readonly head: 'commit' | 'uncertain' | 'as it is';
  readonly messages: readonly NewMessage[];
  readonly result: string;
  readonly contentHash: string;
  readonly losses: readonly CaptureLoss[];
}

/**
 * Ends an attempt at a turn: its messages, its session's head and its result, in one transaction.
 *
 * @throws TidemarkError `lane_fenced`, `lane_sealed`, `thread_durability_uncertain`: another attempt has the turn, and nothing of
 * this is stored.
 */
export async function endTurnStep(pool: pg.Pool, end: TurnStepEnd): Promise<void> {
  const { runId, writer, status, session, head, result, losses } = end;
  await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const said = result === PARKED ? 'parked' : status;
    await appendAll(client, [
      fence(runId, writer),
      platformAppend(runId, losses.map(lossWarning)),
      platformAppend(runId, [{ type: 'step.ended', step: writer.stepIndex, status: said }], writer.stepIndex),
    ]);
    if (session !== null && head === 'commit') await commitHead(client, session);
    if (session !== null && head === 'uncertain') await markDurability(client, session, 'uncertain');
    await insertMessages(client, runId, writer.stepIndex, end.messages);
    await insertCaptureLoss(client, runId, losses);
    await endStepRow(client, { runId, stepIndex: writer.stepIndex, status, result, hash: end.contentHash });
  });
}

async function lastTurnStep(client: Queryable, runId: string): Promise<StepRow | null> {
  const { rows } = await client.query<StepRow>({
    name: 'turn-step-last',
    text: `select * from step where run_id = $1 and kind = 'turn' order by step_index desc limit 1`,
    values: [runId],
  });
  return rows[0] ?? null;
}

async function lostTurns(db: Queryable, runId: string): Promise<number> {
  const { rows } = await db.query<{ lost: number }>({
    name: 'turn-steps-lost',
    text: `select count(*)::int as lost from step where run_id = $1 and kind = 'turn' and status = 'failed'`,
    values: [runId],
  });
  return rows[0]?.lost ?? 0;
}

/** Whether any attempt gave the engine the turn: the last one may have died before it could say anything to it. */
async function wasPrompted(client: Queryable, runId: string): Promise<boolean> {
  const { rows } = await client.query({
    name: 'turn-step-was-prompted',
    text: `select 1 from step where run_id = $1 and kind = 'turn' and result in ($2, $3) limit 1`,
    values: [runId, PROMPTED, PARKED],
  });
  return rows.length > 0;
}

async function endStepRow(
  client: Queryable,
  end: { runId: string; stepIndex: number; status: string; result: string | null; hash: string | null },
): Promise<void> {
  await client.query({
    name: 'turn-step-end',
    text: `update step set status = $3, result = $4, content_hash = $5, ended_at = now()
            where run_id = $1 and step_index = $2`,
    values: [end.runId, end.stepIndex, end.status, end.result, end.hash],
  });
}

function platformAppend(runId: string, frames: readonly PlatformFrame[], closeStep?: number): LaneAppend {
  const at = Date.now();
  const stamped: StampedFrame[] = frames.map((frame) => ({ at, frame }));
  const stored = { runId, provider: PLATFORM, writer: null, translate: saysNothing, frames: stamped };
  return closeStep === undefined ? stored : { ...stored, also: { closeStep } };
}

/** A loss is shown: a run that is not whole never looks as if it were (agent contract, "The completion discipline"). */
function lossWarning({ frames, reason }: CaptureLoss): PlatformFrame {
  const what = frames === 1 ? 'an event of the engine' : `${String(frames)} events of the engine`;
  return { type: 'run.warning', code: 'capture_loss', message: `${what} could not be kept: ${reason}` };
}

/** Stores nothing, and is refused when the step is another's. */
function fence(runId: string, writer: StepWriter): LaneAppend {
  return { runId, provider: PLATFORM, writer, translate: saysNothing, frames: [] };
}

async function appendAll(client: pg.ClientBase, appends: readonly LaneAppend[]): Promise<void> {
  for (const outcome of await appendToLanes(client, appends)) if (!outcome.ok) throw outcome.error;
}

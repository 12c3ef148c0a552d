import type pg from 'pg';
import { canonicalJson } from '../../contract/canonical-json.ts';
import {
  DECISION_FORMS,
  optionOf,
  statusAfter,
  type Decision,
  type InterruptKind,
  type InterruptStatus,
} from '../../contract/decision.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { answerText, checkFormValues, namedValues, type FormField } from '../../contract/form.ts';
import { PLATFORM } from '../../contract/frames.ts';
import { previewInput, type PlatformFrame } from '../../contract/platform-frames.ts';
import { speakerOfStep } from '../../contract/sub-agent.ts';
import { checkEditedArguments } from '../../contract/tool-arguments.ts';
import { saysNothing } from '../../contract/translation.ts';
import { wakeDriver } from './command.ts';
import { appendToLane } from './lane.ts';
import { lockThreadOfRun } from './run.ts';
import { inTransaction, type Queryable } from './transaction.ts';

export interface InterruptRow {
  readonly interrupt_id: string;
  readonly tenant_id: string;
  readonly thread_id: string;
  readonly run_id: string;
  readonly step_index: number;
  readonly kind: InterruptKind;
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** The call's arguments, as JSON text. */
  readonly arguments: string;
  readonly args_digest: string;
  readonly schema: string | null;
  readonly prompt: string;
  readonly options: readonly string[];
  /** Which of the step's questions it is; empty where a step has one. */
  readonly ask_key: string;
  /** The fields of a question; null where it asks for one text. */
  readonly form: readonly FormField[] | null;
  /** When the engine was given the answer. */
  readonly delivered_at: Date | null;
  readonly epoch: number;
  readonly status: InterruptStatus;
  /** The recorded decision, as JSON text. */
  readonly decision: string | null;
  readonly actor: string | null;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
  /** When it expires unless it is answered before. */
  readonly deadline_at: Date | null;
}

export async function findInterrupt(db: Queryable, interruptId: string): Promise<InterruptRow | null> {
  const { rows } = await db.query<InterruptRow>({
    name: 'interrupt-find',
    text: 'select * from interrupt where interrupt_id = $1',
    values: [interruptId],
  });
  return rows[0] ?? null;
}

export async function interruptsOfRun(db: Queryable, runId: string): Promise<InterruptRow[]> {
  const { rows } = await db.query<InterruptRow>({
    name: 'interrupt-of-run',
    text: 'select * from interrupt where run_id = $1 order by step_index',
    values: [runId],
  });
  return rows;
}

/** What waits for a person, oldest first: a keyset page of a tenant's open interrupts, of one thread when it is given. */
export async function openInterrupts(
  db: Queryable,
  page: { tenantId: string; threadId: string | null; after: string | null; limit: number },
): Promise<InterruptRow[]> {
  const { rows } = await db.query<InterruptRow>({
    name: 'interrupt-open',
    text: `select * from interrupt
            where tenant_id = $1 and status = 'pending'
              and ($2::text is null or thread_id = $2)
              and ($3::text is null or interrupt_id > $3)
            order by interrupt_id
            limit $4`,
    values: [page.tenantId, page.threadId, page.after, page.limit],
  });
  return rows;
}

export interface Resolution {
  readonly interruptId: string;
  readonly decision: Decision;
}

/**
 * Records decisions: rows, frames and the `…resolved` deliveries, in one transaction: all or none. The row is the one arbiter
 * (design §3.5): a compare-and-set on (pending, epoch).
 *
 * **Contract:** the first decision wins. The same decision again returns `changed: false`; another one is
 * `interrupt_already_resolved` with the recorded decision. A decision that is not one for its kind, or edited arguments that the
 * tool's schema refuses, change nothing.
 */
export async function resolveInterrupts(
  pool: pg.Pool,
  resolutions: readonly Resolution[],
  actor: string,
): Promise<{ interrupt: InterruptRow; changed: boolean }[]> {
  return await inTransaction(pool, async (client) => {
    const resolved = [];
    for (const resolution of resolutions) resolved.push(await resolveOne(client, resolution, actor));
    return resolved;
  });
}

/** One decision; see `resolveInterrupts`. */
export async function resolveInterrupt(
  pool: pg.Pool,
  { actor, ...resolution }: Resolution & { actor: string },
): Promise<{ interrupt: InterruptRow; changed: boolean }> {
  const [resolved] = await resolveInterrupts(pool, [resolution], actor);
  if (resolved === undefined) throw new Error('a resolution has a result');
  return resolved;
}

async function resolveOne(
  client: pg.ClientBase,
  { interruptId, decision: given }: Resolution,
  actor: string,
): Promise<{ interrupt: InterruptRow; changed: boolean }> {
  const asked = await findInterrupt(client, interruptId);
  if (asked === null) throw interruptNotFound();
  await lockThreadOfRun(client, asked.run_id);
  const decision = 'values' in given ? { values: namedValues(asked.form ?? [], given.values) } : given;
  const status = statusAfter(asked.kind, decision);
  if (status === null) {
    const what = asked.kind === 'approval' ? 'an approval' : 'a question';
    throw new TidemarkError('decision_not_allowed', `this interrupt is ${what}`, `Send one of ${DECISION_FORMS}.`, {
      facts: { kind: asked.kind, interrupt_id: interruptId },
    });
  }
  const option = optionOf(decision);
  if (option !== null && !asked.options.includes(option)) {
    const remedy = `Send one of: ${asked.options.join(', ')}.`;
    throw new TidemarkError('decision_not_allowed', `this interrupt does not offer "${option}"`, remedy, {
      facts: { options: asked.options, interrupt_id: interruptId },
    });
  }
  if ('edited_args' in decision) checkEditedArguments(asked.schema, decision.edited_args);
  if ('values' in decision) checkFormValues(asked.form ?? [], decision.values);
  const { rows } = await client.query<InterruptRow>({
    name: 'interrupt-resolve',
    text: `update interrupt set status = $3, decision = $4, actor = $5, resolved_at = now()
            where interrupt_id = $1 and epoch = $2 and status = 'pending'
        returning *`,
    values: [interruptId, asked.epoch, status, JSON.stringify(decision), actor],
  });
  const resolved = rows[0];
  if (resolved === undefined) return { interrupt: await sameOrConflict(client, interruptId, decision), changed: false };
  await sayResolved(client, asked.run_id, [resolvedFrame(asked, status, decision)]);
  await wakeDriver(client, asked.run_id);
  return { interrupt: resolved, changed: true };
}

/**
 * Expires the interrupts of a run whose time is over, by the same compare-and-set, and says so on the stream. Gives the
 * milliseconds until the next one expires; null when none will.
 */
export async function expireInterrupts(pool: pg.Pool, runId: string): Promise<number | null> {
  const pending = (await interruptsOfRun(pool, runId)).filter(({ status }) => status === 'pending');
  const deadlines = pending.flatMap(({ deadline_at: at }) => (at === null ? [] : [at.getTime()]));
  if (deadlines.length === 0) return null;
  if (Math.min(...deadlines) > Date.now()) return Math.min(...deadlines) - Date.now();
  await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const { rows } = await client.query<InterruptRow>({
      name: 'interrupt-expire',
      text: `update interrupt set status = 'expired', actor = 'system', resolved_at = now(), woken_at = now()
              where run_id = $1 and status = 'pending' and deadline_at <= now()
          returning *`,
      values: [runId],
    });
    const frames = rows.map((row): PlatformFrame => ({ ...resolvedOf(row), decision: 'expired' }));
    if (frames.length > 0) await sayResolved(client, runId, frames);
  });
  return 1_000;
}

/** Closes an interrupt that its engine took back, by the same compare-and-set; one that is answered stays so. */
export async function withdrawInterrupt(pool: pg.Pool, interruptId: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const asked = await findInterrupt(client, interruptId);
    if (asked === null) return;
    await lockThreadOfRun(client, asked.run_id);
    const { rowCount } = await client.query({
      name: 'interrupt-withdraw',
      text: `update interrupt set status = 'cancelled', actor = 'engine', resolved_at = now(), woken_at = now()
              where interrupt_id = $1 and status = 'pending'`,
      values: [interruptId],
    });
    if (rowCount === 0) return;
    await sayResolved(client, asked.run_id, [{ ...resolvedOf(asked), decision: 'cancelled' }]);
  });
}

async function sayResolved(client: pg.ClientBase, runId: string, frames: readonly PlatformFrame[]): Promise<void> {
  const at = Date.now();
  const stamped = frames.map((frame) => ({ at, frame }));
  await appendToLane(client, { runId, provider: PLATFORM, writer: null, translate: saysNothing, frames: stamped });
}

/** The same words for a missing interrupt and for another tenant's. */
export function interruptNotFound(): TidemarkError {
  return new TidemarkError(
    'interrupt_not_found',
    'there is no such interrupt',
    'Take the id from the run’s pending_interrupts or from GET /v1/interrupts.',
  );
}

async function sameOrConflict(client: Queryable, interruptId: string, decision: Decision): Promise<InterruptRow> {
  const winner = await findInterrupt(client, interruptId);
  if (winner === null) throw interruptNotFound();
  const recorded: unknown = winner.decision === null ? null : JSON.parse(winner.decision);
  if (canonicalJson(recorded) === canonicalJson(decision)) return winner;
  throw new TidemarkError(
    'interrupt_already_resolved',
    `this interrupt is ${winner.status} already`,
    'Nothing to do: the recorded decision stands.',
    { facts: { interrupt_status: winner.status, recorded_decision: recorded } },
  );
}

function resolvedOf(asked: InterruptRow) {
  const { interrupt_id: interruptId, kind, run_id: runId, step_index: stepIndex } = asked;
  const speaker = speakerOfStep(runId, stepIndex);
  return { type: 'interrupt.resolved', interruptId, kind, ...(speaker === null ? {} : { speaker }) } as const;
}

function resolvedFrame(asked: InterruptRow, status: InterruptStatus, decision: Decision): PlatformFrame {
  return {
    ...resolvedOf(asked),
    decision: 'decision' in decision ? decision.decision : status,
    ...('edited_args' in decision ? { input: previewInput(decision.edited_args) } : {}),
    ...('message' in decision && decision.message !== undefined ? { message: decision.message.slice(0, 2_000) } : {}),
    ...('values' in decision ? { answer: String(previewInput(answerText(decision.values))) } : {}),
  };
}

/** The interrupt that a tool call's step waited for, or null when it needed none. */
export async function interruptOfStep(db: Queryable, runId: string, stepIndex: number): Promise<InterruptRow | null> {
  const { rows } = await db.query<InterruptRow>({
    name: 'interrupt-of-step',
    text: 'select * from interrupt where run_id = $1 and step_index = $2',
    values: [runId, stepIndex],
  });
  return rows[0] ?? null;
}

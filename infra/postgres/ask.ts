import type pg from 'pg';
import { PLATFORM } from '../../contract/frames.ts';
import type { PlatformFrame } from '../../contract/platform-frames.ts';
import { saysNothing } from '../../contract/translation.ts';
import { newId } from '../ids.ts';
import { commitHead, markDurability } from './harness-session.ts';
import { findInterrupt, type InterruptRow } from './interrupt.ts';
import type { StepWriter } from './lane-append.ts';
import { appendToLanes } from './lane.ts';
import { digestArguments, insertInterrupt, requestedFrame, type InterruptRequest } from './new-interrupt.ts';
import { lockThreadOfRun, readRun } from './run.ts';
import { inTransaction, type Queryable } from './transaction.ts';

export interface Asking {
  readonly runId: string;
  readonly writer: StepWriter;
  /** Left out until the engine has a session: it cannot be taken up again. */
  readonly session: { readonly threadId: string; readonly engine: string; readonly generation: number };
  readonly request: Omit<InterruptRequest, 'stepIndex'> & { readonly askKey: string };
}

/**
 * Commits what an engine asks in the middle of its turn: the interrupt, the session state that leads to it, and the frames that
 * tell of both, in one transaction (design §3.5; lifecycle v1, rule 14).
 *
 * **Contract:** safe to repeat. An engine that was taken up again and asks for the same call with the same arguments gets the
 * interrupt that is there, with its answer if it has one that no engine was given yet; other arguments are asked anew. Null: the
 * run is being stopped, and nothing is asked.
 *
 * @throws TidemarkError `lane_fenced`, `lane_sealed`, `thread_durability_uncertain`: another attempt has the turn.
 */
export async function commitAsk(pool: pg.Pool, asking: Asking): Promise<InterruptRow | null> {
  const { runId, writer, session } = asking;
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    if (run.settled_at !== null || run.cancel_requested_at !== null) return null;
    const request: InterruptRequest = { ...asking.request, stepIndex: writer.stepIndex };
    const held = await heldInterrupt(client, runId, request);
    if (held !== null) return held;
    const interruptId = newId('interrupt');
    await insertInterrupt(client, run, { ...request, interruptId });
    const head = await commitHead(client, session);
    const parked: PlatformFrame = { type: 'session.parked', interrupts: [interruptId], ...head };
    const at = Date.now();
    const frames = [requestedFrame(runId, { ...request, interruptId }), parked].map((frame) => ({ at, frame }));
    const outcomes = await appendToLanes(client, [
      // says nothing: only the one who may write the step may ask
      { runId, provider: PLATFORM, writer, translate: saysNothing, frames: [] },
      { runId, provider: PLATFORM, writer: null, translate: saysNothing, frames },
    ]);
    for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
    return await findInterrupt(client, interruptId);
  });
}

/** The same question of this step, or of one that stopped in the middle and whose answer no engine was given. */
async function heldInterrupt(
  client: Queryable,
  runId: string,
  { stepIndex, askKey = '', kind, toolName, arguments: args }: InterruptRequest,
): Promise<InterruptRow | null> {
  const { rows } = await client.query<InterruptRow>({
    name: 'interrupt-held',
    text: `select * from interrupt
            where run_id = $1
              and ((step_index = $2 and ask_key = $3)
                or (step_index < $2 and delivered_at is null and kind = $4 and tool_name = $5 and args_digest = $6
                    and status not in ('expired', 'cancelled')))
            order by step_index desc, created_at
            limit 1
              for update`,
    values: [runId, stepIndex, askKey, kind, toolName, digestArguments(args)],
  });
  const held = rows[0];
  if (held === undefined || held.step_index === stepIndex) return held ?? null;
  const { rows: moved } = await client.query<InterruptRow>({
    name: 'interrupt-move',
    text: 'update interrupt set step_index = $2, ask_key = $3 where interrupt_id = $1 returning *',
    values: [held.interrupt_id, stepIndex, askKey],
  });
  return moved[0] ?? null;
}

/**
 * Notes that an engine is about to be given an answer; from now on its session is ahead of its head.
 *
 * **Contract:** false when it was given before: an answer is not given twice.
 */
export async function markDelivered(
  pool: pg.Pool,
  { interruptId, session }: { interruptId: string; session: Asking['session'] },
): Promise<boolean> {
  return await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query({
      name: 'interrupt-delivered',
      text: `update interrupt set delivered_at = now(), woken_at = coalesce(woken_at, now())
              where interrupt_id = $1 and delivered_at is null and status <> 'pending'`,
      values: [interruptId],
    });
    await markDurability(client, session, 'pending');
    return rowCount === 1;
  });
}

/** The open interrupts of a run. */
export async function pendingInterrupts(db: Queryable, runId: string): Promise<string[]> {
  const { rows } = await db.query<{ interrupt_id: string }>({
    name: 'interrupt-pending',
    text: `select interrupt_id from interrupt where run_id = $1 and status = 'pending' order by created_at, interrupt_id`,
    values: [runId],
  });
  return rows.map((row) => row.interrupt_id);
}

/** The interrupts of a run whose answers no engine was given. */
export async function undeliveredAnswers(db: Queryable, runId: string): Promise<InterruptRow[]> {
  const { rows } = await db.query<InterruptRow>({
    name: 'interrupt-undelivered',
    text: `select * from interrupt
            where run_id = $1 and delivered_at is null and status not in ('pending', 'cancelled')
            order by created_at, interrupt_id`,
    values: [runId],
  });
  return rows;
}

import type pg from 'pg';
import { PLATFORM } from '../../contract/frames.ts';
import type { PlatformFrame } from '../../contract/platform-frames.ts';
import { saysNothing } from '../../contract/translation.ts';
import { crashPoint } from '../crash-point.ts';
import { commitHead, markDurability, sessionOfRun } from './harness-session.ts';
import { appendToLane } from './lane.ts';
import { sessionHead } from './message.ts';
import { dropInputs } from './queued-input.ts';
import { lockThreadOfRun, readRun, type RunRow } from './run.ts';
import { inTransaction } from './transaction.ts';

export type Turn = 'active' | 'waiting' | 'cancelled' | 'settled';

/**
 * Takes the turn in the run's thread: one active run a thread, first come first served (design §3.2).
 *
 * **Contract:** safe to repeat. `waiting` means that another run has the turn or came earlier; the run that ends hands it
 * on (`settleRun`) and wakes the next.
 */
export async function takeTurn(pool: pg.Pool, runId: string): Promise<Turn> {
  return await inTransaction(pool, async (client) => {
    const thread = await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    if (run.settled_at !== null) return 'settled';
    if (run.cancel_requested_at !== null) return 'cancelled';
    if (run.status === 'running') return 'active';
    if (thread.active_run_id !== null || (await firstQueued(client, thread.thread_id)) !== runId) return 'waiting';
    await giveTurn(client, thread.thread_id, runId);
    return 'active';
  });
}

export interface Settlement {
  readonly status: 'completed' | 'failed';
  readonly stopReason: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * Ends a run: the last frame, the seal, the final status, the canonicalization intent and the hand-over of the turn, in
 * one transaction (design, invariants 5 and 8).
 *
 * **Contract:** the first settlement wins; a repeat changes nothing and returns the same. Open interrupts become
 * `cancelled`, steps in flight are closed, inputs that wait are dropped and said to be, so nothing of the run is left open.
 */
export async function settleRun(
  pool: pg.Pool,
  runId: string,
  settlement: Settlement,
): Promise<{ run: RunRow; nextRunId: string | null }> {
  return await inTransaction(pool, async (client) => {
    const thread = await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    if (run.settled_at !== null) return { run, nextRunId: thread.active_run_id };
    const { status, stopReason, error } = settlement;
    await client.query({
      name: 'run-close-open',
      text: `with interrupts as (
               update interrupt set status = 'cancelled', resolved_at = now(), woken_at = now(), actor = 'system'
                where run_id = $1 and status = 'pending'
             )
             update step set status = 'cancelled', ended_at = now() where run_id = $1 and status = 'running'`,
      values: [runId],
    });
    const session = await settledHead(client, runId);
    const frame: PlatformFrame = {
      type: 'run.settled',
      status,
      stopReason,
      session,
      ...(error === undefined
        ? {}
        : {
            error: {
              code: error.code,
              message: error.message,
            },
          }),
    };
    const { frame: dropped } = await dropInputs(client, runId, 'run_ended');
    const at = Date.now();
    await appendToLane(client, {
      runId,
      provider: PLATFORM,
      writer: null,
      translate: saysNothing,
      frames: [...(dropped === null ? [] : [{ at, frame: dropped }]), { at, frame }],
      also: { seal: true },
    });
    await client.query({
      name: 'run-settle',
      text: `with settled as (
               update run
                  set status = $2, stop_reason = $3, error = $4, settled_at = now(), canonical_state = 'pending'
                where run_id = $1
             ), intent as (
               insert into outbox (run_id, thread_id, state) values ($1, $5, 'pending')
             )
             update command set state = 'completed' where run_id = $1 and state in ('queued', 'dispatched')`,
      values: [runId, status, stopReason, error === undefined ? null : JSON.stringify(error), thread.thread_id],
    });
    const nextRunId = await handOver(client, thread, runId);
    crashPoint('settle.uncommitted');
    return { run: await readRun(client, runId), nextRunId };
  });
}

/** The session as this settlement leaves it; of an engine of its own, a turn without an end leaves it uncertain. */
async function settledHead(client: pg.ClientBase, runId: string): Promise<{ revision: number; headRef: string }> {
  const held = await sessionOfRun(client, runId);
  if (held === null) return await sessionHead(client, runId);
  const { thread_id: threadId, engine, generation, revision, head_ref: headRef } = held;
  if (held.runtime_kind === 'managed' && held.provider === 'builtin') {
    await commitHead(client, { threadId, engine, generation });
    return await sessionHead(client, runId);
  }
  if (held.durability === 'pending') await markDurability(client, { threadId, engine, generation }, 'uncertain');
  return { revision, headRef: headRef ?? `${threadId}#0` };
}

async function handOver(
  client: pg.ClientBase,
  thread: { thread_id: string; active_run_id: string | null },
  runId: string,
): Promise<string | null> {
  if (thread.active_run_id !== runId) return null;
  const next = await firstQueued(client, thread.thread_id);
  if (next !== null) await giveTurn(client, thread.thread_id, next);
  else await client.query('update thread set active_run_id = null where thread_id = $1', [thread.thread_id]);
  return next;
}

async function firstQueued(client: pg.ClientBase, threadId: string): Promise<string | null> {
  const { rows } = await client.query<{ run_id: string }>({
    name: 'run-first-queued',
    text: `select run_id from run where thread_id = $1 and status = 'queued' order by turn_seq limit 1`,
    values: [threadId],
  });
  return rows[0]?.run_id ?? null;
}

async function giveTurn(client: pg.ClientBase, threadId: string, runId: string): Promise<void> {
  await client.query({
    name: 'turn-give',
    text: `with taken as (update thread set active_run_id = $2 where thread_id = $1)
           update run set status = 'running', started_at = now() where run_id = $2`,
    values: [threadId, runId],
  });
}

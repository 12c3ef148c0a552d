import type pg from 'pg';
import { TidemarkError } from '../../contract/errors.ts';
import { threadNotFound } from './accept-run.ts';
import { askToStop } from './command.ts';
import { removeArtifacts, removeBulk, removeThread } from './erased-rows.ts';
import { notifyGone } from './lane-rows.ts';
import { lockSegments } from './replay-segment.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** A log of so many deliveries is removed in one transaction; a longer one in batches, after no reader finds it any more. */
const ONE_TRANSACTION_ROWS = 10_000;

interface ErasableThread {
  readonly thread_id: string;
  readonly tenant_id: string;
  readonly erasing_at: Date | null;
  readonly gone_at: Date | null;
  readonly deliveries: number;
}

/** Where an erasure stands: `gone` for every reader, or `erasing` until the thread's runs are settled and canonicalized. */
export type ErasureOutcome =
  | { readonly state: 'gone' }
  | { readonly state: 'erasing'; readonly cancelling: readonly string[] };

/**
 * Erases a thread, or sees to it that a worker does (`advanceErasure`).
 *
 * **Contract:** one transaction under the thread's lock. A thread whose runs have not ended is refused with
 * `thread_has_live_run`, unless `cancel` asks them to stop or it is being erased already. After `gone` no reader finds anything
 * of it. Its workspace is removed by a worker, from the row in `erasure`.
 */
export async function requestErasure(
  pool: pg.Pool,
  { tenantId, threadId, cancel }: { tenantId: string; threadId: string; cancel: boolean },
): Promise<ErasureOutcome> {
  return await inTransaction(pool, async (client) => {
    const thread = await lockForErasure(client, threadId);
    if (thread?.tenant_id !== tenantId) throw threadNotFound();
    const { open, live } = await openRuns(client, threadId);
    if (live.length > 0 && !cancel && thread.erasing_at === null) throw hasLiveRun(threadId, live);
    await client.query({
      name: 'erasure-insert',
      text: 'insert into erasure (thread_id, tenant_id) values ($1, $2) on conflict do nothing',
      values: [threadId, tenantId],
    });
    if (open === 0) {
      await letGo(client, thread);
      return { state: 'gone' };
    }
    await client.query({
      name: 'thread-erasing',
      text: 'update thread set erasing_at = coalesce(erasing_at, now()) where thread_id = $1',
      values: [threadId],
    });
    for (const runId of live) await askToStop(client, runId);
    return { state: 'erasing', cancelling: live };
  });
}

/**
 * Carries an erasure on as far as it goes: `waiting` while a run of the thread has not ended.
 *
 * **Contract:** safe to repeat, and for two workers at once.
 */
export async function advanceErasure(pool: pg.Pool, threadId: string): Promise<'waiting' | 'removed'> {
  const state = await inTransaction(pool, async (client) => {
    const thread = await lockForErasure(client, threadId);
    if (thread === null) return 'removed';
    if (thread.gone_at !== null) return 'disowned';
    const { open, live } = await openRuns(client, threadId);
    if (open === 0) return await letGo(client, thread);
    for (const runId of live) await askToStop(client, runId);
    return 'waiting';
  });
  if (state !== 'disowned') return state;
  for (;;) if ((await removeBulk(pool, threadId)) === 0) break;
  await inTransaction(pool, async (client) => {
    if ((await lockForErasure(client, threadId)) !== null) await removeThread(client, threadId);
  });
  return 'removed';
}

/**
 * Locks out also who only refers to the thread: nothing is added while it goes. The segments' lock comes first, as it does for who
 * cuts the log: neither waits for the other while it holds rows.
 */
async function lockForErasure(client: Queryable, threadId: string): Promise<ErasableThread | null> {
  await lockSegments(client, threadId);
  const { rows } = await client.query<ErasableThread>({
    name: 'thread-lock-erase',
    text: `select thread_id, tenant_id, erasing_at, gone_at, head_seq - retained_from + 1 as deliveries
             from thread
            where thread_id = $1
              for update`,
    values: [threadId],
  });
  return rows[0] ?? null;
}

/** How many runs still change the log, and those of them that have not ended. */
async function openRuns(client: Queryable, threadId: string): Promise<{ open: number; live: string[] }> {
  const { rows } = await client.query<{ run_id: string; live: boolean }>({
    name: 'run-open-of-thread',
    text: `select run_id, settled_at is null as live from run
            where thread_id = $1 and (settled_at is null or canonical_state in ('open', 'pending', 'translating'))
            order by turn_seq`,
    values: [threadId],
  });
  return { open: rows.length, live: rows.filter(({ live }) => live).map((row) => row.run_id) };
}

async function letGo(client: Queryable, thread: ErasableThread): Promise<'removed' | 'disowned'> {
  const { thread_id: threadId } = thread;
  await notifyGone(client, threadId);
  if (thread.deliveries <= ONE_TRANSACTION_ROWS) {
    await removeThread(client, threadId);
    return 'removed';
  }
  await removeArtifacts(client, threadId);
  await disown(client, threadId);
  return 'disowned';
}

/** Takes all that a tenant can reach of a thread away from it, at once: what belongs to no tenant is found by none. */
async function disown(client: Queryable, threadId: string): Promise<void> {
  await client.query({
    name: 'thread-disown',
    text: `with runs as (
             update run set tenant_id = $2 where thread_id = $1
           ), interrupts as (
             update interrupt set tenant_id = $2 where thread_id = $1
           ), inputs as (
             update queued_input set tenant_id = $2 where thread_id = $1
           ), commands as (
             update command set tenant_id = $2 where thread_id = $1
           )
           update thread set tenant_id = $2, gone_at = now() where thread_id = $1`,
    values: [threadId, `erased:${threadId}`],
  });
}

function hasLiveRun(threadId: string, runIds: readonly string[]): TidemarkError {
  return new TidemarkError(
    'thread_has_live_run',
    `thread ${threadId} has runs that have not ended`,
    'Wait for them, or send DELETE with ?cancel=1, which cancels them and erases the thread when they have ended.',
    { facts: { run_ids: runIds } },
  );
}

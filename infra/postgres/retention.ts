import type pg from 'pg';
import { logBounds } from './delivery.ts';
import { cutOf, type RunSpan } from './log-cut.ts';
import { cutSegments, lockSegments } from './replay-segment.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** So many deliveries go in one transaction, unless one run has more. */
const CUT_ROWS = 10_000;
/** So many runs of a thread are looked at for one cut. */
const CUT_RUNS = 500;

/** What the policy lets go: runs that are settled and canonically complete for so many days ($1). */
const IS_OLD = `r.settled_at < now() - make_interval(days => $1)
                and r.canonical_state in ('complete', 'complete_degraded')
                and exists (select 1 from outbox o
                             where o.run_id = r.run_id and o.completed_at < now() - make_interval(days => $1))`;

/** Runs whose frames may go, the oldest first. */
export async function runsWithOldFrames(db: Queryable, days: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'retention-old-frames',
    text: `select r.run_id from run r
            where r.frames_removed_at is null and ${IS_OLD}
            order by r.settled_at
            limit $2`,
    values: [days, limit],
  });
  return rows.map((row) => row.run_id);
}

/** Removes a run's frames, all at once, and notes that in its row. Its lane keeps their number and their digest. */
export async function removeFrames(pool: pg.Pool, runId: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    // before the run's row, as everyone does; a thread that was erased meanwhile has no row of either
    await client.query({
      name: 'retention-lock',
      text: `select 1 from thread where thread_id = (select thread_id from run where run_id = $1) for no key update`,
      values: [runId],
    });
    await client.query({
      name: 'retention-remove-frames',
      text: `with noted as (
               update run set frames_removed_at = now()
                where run_id = $1 and frames_removed_at is null
            returning run_id
             )
             delete from frame using noted where frame.run_id = noted.run_id`,
      values: [runId],
    });
  });
}

/** Threads whose log begins with a run that may go. `except` are those that were found to have no cut. */
export async function threadsWithOldLogs(
  db: Queryable,
  { days, limit, except }: { days: number; limit: number; except: readonly string[] },
): Promise<string[]> {
  const { rows } = await db.query<{ thread_id: string }>({
    name: 'retention-old-logs',
    text: `select r.thread_id from run r
            where r.deliveries_removed_at is null and ${IS_OLD}
              and r.thread_id <> all ($3)
              and not exists (select 1 from run e
                               where e.thread_id = r.thread_id and e.turn_seq < r.turn_seq
                                 and e.deliveries_removed_at is null)
            order by r.settled_at
            limit $2`,
    values: [days, limit, except],
  });
  return rows.map((row) => row.thread_id);
}

/**
 * Removes a prefix of a thread's log, with its replay segments, as far as its runs may go. False when nothing could go.
 *
 * **Contract:** one transaction: a reader finds the log as it was or as it is after. What stays keeps its numbers. Appends wait
 * only for its end, when the thread's row is written.
 */
export async function trimLog(pool: pg.Pool, threadId: string, days: number): Promise<boolean> {
  return await inTransaction(pool, async (client) => {
    await lockSegments(client, threadId);
    // one that is gone is its eraser's
    if ((await logBounds(client, threadId)) === null) return false;
    const cut = cutOf(await spansOf(client, threadId, days), CUT_ROWS);
    if (cut === null) return false;
    await client.query({
      name: 'retention-remove-deliveries',
      text: 'delete from delivery where thread_id = $1 and delivery_seq < $2',
      values: [threadId, cut.retainedFrom],
    });
    await cutSegments(client, threadId, cut.retainedFrom);
    await client.query({
      name: 'retention-note-cut',
      text: `with runs as (
               update run set deliveries_removed_at = now() where run_id = any($3)
             )
             update thread set retained_from = $2 where thread_id = $1`,
      values: [threadId, cut.retainedFrom, cut.runIds],
    });
    return true;
  });
}

async function spansOf(client: Queryable, threadId: string, days: number): Promise<RunSpan[]> {
  const { rows } = await client.query<{ run_id: string; first: number; last: number; removable: boolean }>({
    name: 'retention-spans',
    text: `select r.run_id, d.first, d.last, (${IS_OLD}) as removable
             from run r
            cross join lateral (select min(delivery_seq) as first, max(delivery_seq) as last
                                  from delivery where run_id = r.run_id) d
            where r.thread_id = $2 and r.deliveries_removed_at is null and d.first is not null
            order by r.turn_seq
            limit $3`,
    values: [days, threadId, CUT_RUNS],
  });
  return rows.map(({ run_id: runId, first, last, removable }, i) => {
    // of what follows the last run that was read nothing is known, so no cut lies behind it
    return { runId, first, last, removable: removable && i < CUT_RUNS - 1 };
  });
}

import type { Queryable } from './transaction.ts';

/** One statement removes so many rows of a table, so that none of them holds locks for long. */
const BATCH_ROWS = 5_000;

/** What grows with what was said. The rows are not changed any more, so they can be found by their place. */
const BULK = [
  {
    name: 'erase-delivery-batch',
    text: `delete from delivery
            where ctid = any (array (select ctid from delivery where thread_id = $1 limit $2))`,
  },
  {
    name: 'erase-segment-batch',
    text: `delete from replay_segment
            where ctid = any (array (select ctid from replay_segment where thread_id = $1 limit $2))`,
  },
  {
    name: 'erase-frame-batch',
    text: `delete from frame
            where ctid = any (array (select f.ctid from frame f join run r using (run_id)
                                      where r.thread_id = $1 limit $2))`,
  },
  {
    name: 'erase-message-batch',
    text: `delete from message
            where ctid = any (array (select m.ctid from message m join run r using (run_id)
                                      where r.thread_id = $1 limit $2))`,
  },
] as const;

/** Every table that holds something of a thread, in the order of their foreign keys; `thread` itself is last. */
const ALL = [
  `delete from delivery where thread_id = $1`,
  `delete from replay_segment where thread_id = $1`,
  `delete from frame where run_id in (select run_id from run where thread_id = $1)`,
  `delete from message where run_id in (select run_id from run where thread_id = $1)`,
  `delete from compaction where run_id in (select run_id from run where thread_id = $1)`,
  `delete from sub_agent where run_id in (select run_id from run where thread_id = $1)`,
  `delete from tool_verdict where run_id in (select run_id from run where thread_id = $1)`,
  `delete from extension_call where thread_id = $1`,
  `delete from step where run_id in (select run_id from run where thread_id = $1)`,
  `delete from interrupt where thread_id = $1`,
  `delete from queued_input where thread_id = $1`,
  `delete from session where thread_id = $1`,
  `delete from capture_loss where run_id in (select run_id from run where thread_id = $1)`,
  `delete from outbox where thread_id = $1`,
  `delete from command where thread_id = $1`,
  `delete from lane where thread_id = $1`,
  `delete from run where thread_id = $1`,
  `delete from thread where thread_id = $1`,
] as const;

/** Removes a part of what grows with a thread, statement by statement. Gives how many rows went; 0 when none is left. */
export async function removeBulk(db: Queryable, threadId: string): Promise<number> {
  let removed = 0;
  for (const { name, text } of BULK) {
    const { rowCount } = await db.query({ name, text, values: [threadId, BATCH_ROWS] });
    removed += rowCount ?? 0;
  }
  return removed;
}

/** Removes all that there is of a thread, in the caller's transaction, which holds the thread's row `for update`. */
export async function removeThread(client: Queryable, threadId: string): Promise<void> {
  await removeArtifacts(client, threadId);
  for (const text of ALL) await client.query(text, [threadId]);
  await client.query('update erasure set rows_removed_at = now() where thread_id = $1', [threadId]);
}

/**
 * Removes a thread's links to artifacts, and the artifacts that no other thread links.
 *
 * **Contract:** an artifact that another thread links, or is just linking, stays: the artifacts are locked, in the order of their
 * ids, before their other links are looked for.
 */
export async function removeArtifacts(client: Queryable, threadId: string): Promise<void> {
  const { rows } = await client.query<{ artifact_id: string }>({
    name: 'erase-links',
    text: `with gone as (delete from artifact_link where thread_id = $1 returning artifact_id)
           select distinct artifact_id from gone`,
    values: [threadId],
  });
  if (rows.length === 0) return;
  const ids = rows.map((row) => row.artifact_id);
  await client.query({
    name: 'erase-artifact-lock',
    text: 'select 1 from artifact where artifact_id = any($1) order by artifact_id for update',
    values: [ids],
  });
  // its chunks go with it; a statement of its own, so that it sees the links that were waited for
  await client.query({
    name: 'erase-artifact',
    text: `delete from artifact a
            where artifact_id = any($1)
              and not exists (select 1 from artifact_link l where l.artifact_id = a.artifact_id)`,
    values: [ids],
  });
}

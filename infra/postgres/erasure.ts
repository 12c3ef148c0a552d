import type { Queryable } from './transaction.ts';

/** Leases threads whose erasure is not over: `SKIP LOCKED`, so any number of workers share the work. */
export async function leaseErasures(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ thread_id: string }>({
    name: 'erasure-lease',
    text: `update erasure e
              set lease_until = now() + interval '60 seconds', attempt_count = e.attempt_count + 1
             from (select thread_id from erasure
                    where workspace_removed_at is null and lease_until <= now()
                    order by lease_until
                    limit $1
                      for update skip locked) due
            where e.thread_id = due.thread_id
        returning e.thread_id`,
    values: [limit],
  });
  return rows.map((row) => row.thread_id);
}

/** Gives a lease back: the erasure comes up again, later each time, half a minute at most. */
export async function postponeErasure(db: Queryable, threadId: string, error: string | null): Promise<void> {
  await db.query({
    name: 'erasure-postpone',
    text: `update erasure
              set lease_until = now() + least(interval '500 milliseconds' * (1 << least(attempt_count, 6)),
                                              interval '30 seconds'),
                  last_error = left($2, 500)
            where thread_id = $1`,
    values: [threadId, error],
  });
}

/** Notes the end of an erasure: the row stays, as the record of it. */
export async function finishErasure(db: Queryable, threadId: string): Promise<void> {
  await db.query({
    name: 'erasure-finish',
    text: `update erasure
              set rows_removed_at = coalesce(rows_removed_at, now()), workspace_removed_at = now(), last_error = null
            where thread_id = $1 and workspace_removed_at is null`,
    values: [threadId],
  });
}

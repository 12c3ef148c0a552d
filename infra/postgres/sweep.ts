import type { Queryable } from './transaction.ts';

/** Of these runs, those that have not ended: their workflow is closed, so nobody else will end them. */
export async function unsettledOf(db: Queryable, runIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'sweep-unsettled-of',
    text: 'select run_id from run where run_id = any($1) and settled_at is null',
    values: [runIds],
  });
  return rows.map((row) => row.run_id);
}

/**
 * Takes the runs that have not ended and were not looked at for `olderThanMs`, the longest unseen first, and marks them seen.
 * Only runs whose start was dispatched: the others have a command that is still due.
 */
export async function takeUnswept(
  db: Queryable,
  { limit, olderThanMs }: { limit: number; olderThanMs: number },
): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'sweep-take',
    text: `update run r
              set swept_at = now()
             from (select run_id from run
                    where settled_at is null and swept_at < now() - make_interval(secs => $2)
                      and exists (select 1 from command c
                                   where c.run_id = run.run_id and c.kind = 'run.create' and c.state = 'dispatched')
                    order by swept_at
                    limit $1
                      for update skip locked) unseen
            where r.run_id = unseen.run_id
        returning r.run_id`,
    values: [limit, olderThanMs / 1_000],
  });
  return rows.map((row) => row.run_id);
}

export interface DeadIntent {
  readonly run_id: string;
  readonly thread_id: string;
  readonly attempt_count: number;
  readonly last_error: string | null;
  readonly created_at: Date;
}

/** Intents that were given up, of one tenant or (null) of all, oldest run first. */
export async function deadIntents(
  db: Queryable,
  { tenantId, after, limit }: { tenantId: string | null; after: string | null; limit: number },
): Promise<DeadIntent[]> {
  const { rows } = await db.query<DeadIntent>({
    name: 'outbox-dead',
    text: `select o.run_id, o.thread_id, o.attempt_count, o.last_error, o.created_at
             from outbox o
             join run r using (run_id)
            where o.state = 'dead' and ($1::text is null or r.tenant_id = $1) and ($2::text is null or o.run_id > $2)
            order by o.run_id
            limit $3`,
    values: [tenantId, after, limit],
  });
  return rows;
}

/** Gives a dead intent its attempts back; a worker takes it up at its next sweep. False when it is not dead. */
export async function reviveIntent(db: Queryable, runId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'outbox-revive',
    text: `with revived as (
             update outbox
                set state = 'pending', attempt_count = 0, lease_until = null,
                    next_attempt_at = now() - interval '1 minute'
              where run_id = $1 and state = 'dead'
          returning run_id
           )
           update run set canonical_state = 'pending' from revived where run.run_id = revived.run_id`,
    values: [runId],
  });
  return rowCount === 1;
}

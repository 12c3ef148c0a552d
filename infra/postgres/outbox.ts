import { hash } from 'node:crypto';
import type { Queryable } from './transaction.ts';

/** A claim on a run's canonicalization intent: its number fences the claims before it. */
export interface Claim {
  readonly claim: number;
  readonly threadId: string;
}

/** How long a claim holds unless it is done before: then any worker may take the intent over. */
const LEASE = '60 seconds';

/** Claims the intent of a run: null when it is done, dead, or another worker's claim still holds. */
export async function claimIntent(db: Queryable, runId: string): Promise<Claim | null> {
  const { rows } = await db.query<{ claim: number; thread_id: string }>({
    name: 'outbox-claim',
    text: `update outbox
              set state = 'translating', claim = claim + 1, lease_until = now() + interval '${LEASE}'
            where run_id = $1 and (state = 'pending' or (state = 'translating' and lease_until < now()))
        returning claim, thread_id`,
    values: [runId],
  });
  const row = rows[0];
  return row === undefined ? null : { claim: row.claim, threadId: row.thread_id };
}

export async function intentState(db: Queryable, runId: string): Promise<string | null> {
  const { rows } = await db.query<{ state: string }>({
    name: 'outbox-state',
    text: 'select state from outbox where run_id = $1',
    values: [runId],
  });
  return rows[0]?.state ?? null;
}

/** Gives an intent back after a failure: it waits, longer each time, and dies visibly after `maxAttempts`. */
export async function failIntent(
  db: Queryable,
  { runId, claim, error, maxAttempts }: { runId: string; claim: number; error: string; maxAttempts: number },
): Promise<void> {
  await db.query({
    name: 'outbox-fail',
    text: `with failed as (
             update outbox
                set state = case when attempt_count + 1 >= $4 then 'dead' else 'pending' end,
                    attempt_count = attempt_count + 1, lease_until = null, last_error = left($3, 500),
                    next_attempt_at = now() + least(interval '1 second' * (1 << attempt_count), interval '30 seconds')
              where run_id = $1 and claim = $2 and state = 'translating'
          returning run_id, state
           )
           update run r set canonical_state = f.state from failed f where r.run_id = f.run_id`,
    values: [runId, claim, error, maxAttempts],
  });
}

/** Runs whose intent is due and whose workflow did not see to it: pending past its time, or a lease that ran out. */
export async function dueIntents(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'outbox-due',
    text: `select run_id from outbox
            where (state = 'pending' and next_attempt_at < now() - interval '10 seconds')
               or (state = 'translating' and lease_until < now())
            order by next_attempt_at
            limit $1`,
    values: [limit],
  });
  return rows.map((row) => row.run_id);
}

/** What is read before and after translating: it must hold still for the run to be complete (design, invariant 6). */
export interface Watermark {
  /** The last frame's sequence number; -1 for an empty lane. */
  readonly frameSeq: number;
  /** The running SHA-256 over the lane's segments, hex. */
  readonly frameDigest: string;
  /** SHA-256 (hex) over every step's content, in order. */
  readonly stepSignature: string;
}

export async function readWatermark(db: Queryable, runId: string): Promise<Watermark> {
  const { rows } = await db.query<{ last_seq: number; digest: string; steps: string }>({
    name: 'lane-watermark',
    text: `select l.last_seq, l.digest,
                  coalesce((select string_agg(concat_ws('|', step_index, kind, attempt, status, content_hash), e'\\n'
                                              order by step_index)
                              from step s where s.run_id = l.run_id), '') as steps
             from lane l
            where l.run_id = $1`,
    values: [runId],
  });
  const row = rows[0];
  if (row === undefined) throw new Error(`run ${runId} has no lane`);
  return { frameSeq: row.last_seq, frameDigest: row.digest, stepSignature: hash('sha256', row.steps) };
}

/** How many frames a run's lane holds. */
export async function laneLength(db: Queryable, runId: string): Promise<number> {
  const { rows } = await db.query<{ frames: number }>({
    name: 'lane-length',
    text: 'select last_seq + 1 as frames from lane where run_id = $1',
    values: [runId],
  });
  return rows[0]?.frames ?? 0;
}

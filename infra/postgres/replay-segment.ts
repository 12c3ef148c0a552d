import type pg from 'pg';
import { encodeDelivery } from '../../contract/encoders/canonical.ts';
import { deliveryPage } from './delivery-page.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** Ready SSE text of a range of a thread's log: the canonical encoding, unfiltered. */
export interface ReplaySegment {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly text: string;
}

const SEGMENT_BYTES = 64 * 1024;
/** A tail smaller than this stays rows until more has come: a few dozen rows are read as fast. */
const TAIL_BYTES = 16 * 1024;
/** What one transaction turns into segments at most. */
const BATCH = { rows: 5_000, bytes: 1024 * 1024 };
/** The class of the advisory lock that one writer of a thread's segments holds. */
const SEGMENT_LOCK = 0x5e67;

/**
 * Encodes what a thread's log holds beyond its last segment. Gives the `deliverySeq` up to which segments now reach.
 *
 * **Contract:** segments are contiguous from the log's first delivery and do not change, since the log is append-only. Safe to call at any time,
 * by many at once and again after a crash: one writer a thread works, the others wait and find it done. Appends to the
 * thread are not held up. A tail of less than 16 KiB stays rows.
 */
export async function writeReplaySegments(pool: pg.Pool, threadId: string): Promise<number> {
  for (;;) {
    const { coveredTo, done } = await inTransaction(pool, (client) => writeBatch(client, threadId));
    if (done) return coveredTo;
  }
}

/**
 * The segments after a cursor, in order, at most `limit`; the first one may begin before the cursor. Empty when the log
 * from there on is rows.
 */
export async function segmentsAfter(
  db: Queryable,
  threadId: string,
  after: number,
  limit: number,
): Promise<ReplaySegment[]> {
  const { rows } = await db.query<{ first_seq: number; last_seq: number; body: string }>({
    name: 'replay-segments-after',
    text: `with position as (
             select first_seq from replay_segment
              where thread_id = $1 and first_seq <= $2 + 1
              order by first_seq desc
              limit 1
           )
           select s.first_seq, s.last_seq, s.body
             from replay_segment s, position p
            where s.thread_id = $1 and s.first_seq >= p.first_seq and s.last_seq > $2
            order by s.first_seq
            limit $3`,
    values: [threadId, after, limit],
  });
  return rows.map((row) => ({ firstSeq: row.first_seq, lastSeq: row.last_seq, text: row.body }));
}

/** Makes the caller's transaction the one writer of a thread's segments until it ends. */
export async function lockSegments(client: Queryable, threadId: string): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [SEGMENT_LOCK, threadId]);
}

/**
 * Removes the segments of what lies before a delivery, in the caller's transaction that has locked them. One that reaches beyond
 * it is written again from there, so that what stays is still contiguous.
 */
export async function cutSegments(client: Queryable, threadId: string, retainedFrom: number): Promise<void> {
  const { rows } = await client.query<{ last_seq: number }>({
    name: 'replay-segment-cut',
    text: 'delete from replay_segment where thread_id = $1 and first_seq < $2 returning last_seq',
    values: [threadId, retainedFrom],
  });
  const lastSeq = Math.max(0, ...rows.map((row) => row.last_seq));
  if (lastSeq < retainedFrom) return;
  const bounds = { rows: lastSeq - retainedFrom + 1, bytes: Number.MAX_SAFE_INTEGER };
  const kept = await deliveryPage(client, threadId, retainedFrom - 1, bounds);
  const text = kept.map((row) => encodeDelivery(threadId, row)).join('');
  await insertSegments(client, threadId, [{ firstSeq: retainedFrom, lastSeq, text }]);
}

async function writeBatch(client: Queryable, threadId: string): Promise<{ coveredTo: number; done: boolean }> {
  await lockSegments(client, threadId);
  const coveredTo = await coverage(client, threadId);
  const rows = await deliveryPage(client, threadId, coveredTo, BATCH);
  const segments: ReplaySegment[] = [];
  let frames: string[] = [];
  let bytes = 0;
  let firstSeq = coveredTo + 1;
  for (const row of rows) {
    const frame = encodeDelivery(threadId, row);
    frames.push(frame);
    bytes += Buffer.byteLength(frame);
    if (bytes < SEGMENT_BYTES) continue;
    segments.push({ firstSeq, lastSeq: row.delivery_seq, text: frames.join('') });
    firstSeq = row.delivery_seq + 1;
    frames = [];
    bytes = 0;
  }
  // a batch that made a segment may have stopped at its bounds: what is left over begins the next one
  const done = segments.length === 0;
  const last = rows.at(-1);
  if (done && last !== undefined && bytes >= TAIL_BYTES) {
    segments.push({ firstSeq, lastSeq: last.delivery_seq, text: frames.join('') });
  }
  await insertSegments(client, threadId, segments);
  return { coveredTo: segments.at(-1)?.lastSeq ?? coveredTo, done };
}

async function coverage(db: Queryable, threadId: string): Promise<number> {
  const { rows } = await db.query<{ last_seq: number }>({
    name: 'replay-segment-coverage',
    text: `select greatest(retained_from - 1,
                           (select last_seq from replay_segment s
                             where s.thread_id = t.thread_id order by first_seq desc limit 1)) as last_seq
             from thread t
            where thread_id = $1`,
    values: [threadId],
  });
  return rows[0]?.last_seq ?? 0;
}

async function insertSegments(db: Queryable, threadId: string, segments: readonly ReplaySegment[]): Promise<void> {
  if (segments.length === 0) return;
  await db.query({
    name: 'replay-segment-insert',
    text: `insert into replay_segment (thread_id, first_seq, last_seq, body)
           select $1, first_seq, last_seq, body
             from unnest($2::bigint[], $3::bigint[], $4::text[]) as s (first_seq, last_seq, body)`,
    values: [threadId, segments.map((s) => s.firstSeq), segments.map((s) => s.lastSeq), segments.map((s) => s.text)],
  });
}

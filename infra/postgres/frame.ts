import type { FrameSegment, StampedFrame } from '../../contract/frames.ts';
import type { Queryable } from './transaction.ts';

interface FrameRow {
  readonly first_seq: number;
  readonly last_seq: number;
  readonly provider: string;
  readonly step_index: number | null;
  readonly attempt: number;
  readonly payload: string;
}

/** A stored segment, and its stored text: what the lane's digest is made of. */
export interface StoredSegment extends FrameSegment {
  readonly lastSeq: number;
  readonly payload: string;
}

/**
 * A run's segments in order, read by key in pages, so that no lane is held in memory whole. The next page is read while the
 * caller works on this one.
 */
export async function* segmentsOf(db: Queryable, runId: string, pageSize = 500): AsyncGenerator<StoredSegment> {
  let page = await segmentPage(db, { runId, after: -1, limit: pageSize });
  for (;;) {
    const last = page.at(-1);
    const isLast = last === undefined || page.length < pageSize;
    const next = isLast ? null : segmentPage(db, { runId, after: last.firstSeq, limit: pageSize });
    next?.catch(() => {}); // told to whoever awaits it
    yield* page;
    if (next === null) return;
    page = await next;
  }
}

export async function segmentPage(
  db: Queryable,
  { runId, after, limit }: { runId: string; after: number; limit: number },
): Promise<StoredSegment[]> {
  const { rows } = await db.query<FrameRow>({
    name: 'frame-page',
    text: `select first_seq, last_seq, provider, step_index, attempt, payload
             from frame
            where run_id = $1 and first_seq > $2
            order by first_seq
            limit $3`,
    values: [runId, after, limit],
  });
  return rows.map((row) => ({
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    provider: row.provider,
    stepIndex: row.step_index,
    attempt: row.attempt,
    payload: row.payload,
    frames: JSON.parse(row.payload) as StampedFrame[],
  }));
}

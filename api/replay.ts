import { deliveryPage } from '../infra/postgres/delivery-page.ts';
import type { Queryable } from '../infra/postgres/transaction.ts';
import { assertNoGap } from './cursor.ts';
import { DeliveryChunk, type Selection } from './delivery-chunk.ts';
import type { DeliveryFilter } from './delivery-filter.ts';
import type { ReadySegment, SegmentCache } from './segment-cache.ts';

/** The next stretch of a replay; `lastSeq` is the cursor after it. */
export interface ReplayPart extends Selection {
  readonly lastSeq: number;
}

const PAGE = { rows: 500, bytes: 256 * 1024 };
/** The first read is small, so that the first byte is early. */
const FIRST_PAGE = { rows: 100, bytes: 64 * 1024 };
/** A quarter of a megabyte a query, and as much again read ahead. */
const SEGMENTS_A_READ = 4;

interface ReplayOptions {
  readonly db: Queryable;
  readonly segments: SegmentCache;
  readonly threadId: string;
  readonly filter: DeliveryFilter | null;
}

/**
 * Reads a thread's log forward from a cursor: sealed history as segments, the rest as pages of rows.
 *
 * **Contract:** the bytes are the same wherever pages and segments begin and end; never more than two reads' worth is in
 * memory. Null at the end of what is stored.
 *
 * @throws TidemarkError `cursor_expired`: retention has overtaken the replay.
 */
export class Replay {
  readonly #options: ReplayOptions;
  #ready: readonly ReadySegment[] = [];
  #ahead: { readonly after: number; readonly read: Promise<readonly ReadySegment[]> } | null = null;
  #isPastSegments: boolean;
  #page = FIRST_PAGE;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#isPastSegments = options.filter !== null;
  }

  async next(after: number): Promise<ReplayPart | null> {
    const segment = this.#isPastSegments ? null : await this.#nextSegment(after);
    if (segment !== null) {
      return { bytes: segment.bytes, count: segment.lastSeq - after, lastSeq: segment.lastSeq };
    }
    this.#isPastSegments = true;
    const { db, threadId, filter } = this.#options;
    const rows = await deliveryPage(db, threadId, after, this.#page);
    this.#page = PAGE;
    assertNoGap(after, rows);
    if (rows.length === 0) return null;
    const chunk = new DeliveryChunk(threadId, rows);
    return { ...chunk.select(filter, after), lastSeq: chunk.lastSeq };
  }

  async #nextSegment(after: number): Promise<ReadySegment | null> {
    const { segments, threadId } = this.#options;
    const at = this.#ready.findIndex((segment) => segment.firstSeq === after + 1);
    const ready = at === -1 ? segments.peek(threadId, after) : (this.#ready[at] ?? null);
    if (ready !== null) return ready;
    const ahead = this.#ahead?.after === after ? this.#ahead.read : null;
    this.#ahead = null;
    this.#ready = await (ahead ?? segments.read(threadId, after, 1));
    const last = this.#ready.at(-1);
    if (last !== undefined) this.#readAhead(last.lastSeq);
    return this.#ready[0] ?? null;
  }

  /** The next read runs while this one is sent. */
  #readAhead(after: number): void {
    const { segments, threadId } = this.#options;
    if (segments.peek(threadId, after) !== null) return;
    const read = segments.read(threadId, after, SEGMENTS_A_READ);
    read.catch(() => {}); // told to whoever awaits it
    this.#ahead = { after, read };
  }
}

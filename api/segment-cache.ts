import { LRUCache } from 'lru-cache';
import { segmentsAfter } from '../infra/postgres/replay-segment.ts';
import type { Queryable } from '../infra/postgres/transaction.ts';
import { bytesAfter } from './delivery-chunk.ts';

/** A stretch of a sealed log as the bytes to send. */
export interface ReadySegment {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: Buffer;
}

/** What an entry costs beside its bytes. */
const ENTRY_BYTES = 300;

/** The segments of sealed history that this gateway keeps ready; a segment never changes, so none is ever stale. */
export class SegmentCache {
  readonly #db: Queryable;
  readonly #hot: LRUCache<string, ReadySegment> | null;
  readonly #reads = new Map<string, Promise<readonly ReadySegment[]>>();

  constructor(db: Queryable, maxBytes: number) {
    this.#db = db;
    this.#hot =
      maxBytes > 0
        ? new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES })
        : null;
  }

  /** The segment that begins right after a cursor, if it is at hand. */
  peek(threadId: string, after: number): ReadySegment | null {
    return this.#hot?.get(keyOf(threadId, after + 1)) ?? null;
  }

  /** The next segments after a cursor, cut to begin there; empty when rows follow. Readers at one place share the read. */
  read(threadId: string, after: number, limit: number): Promise<readonly ReadySegment[]> {
    const key = `${keyOf(threadId, after + 1)} ${String(limit)}`;
    const running = this.#reads.get(key);
    if (running !== undefined) return running;
    const read = this.#load(threadId, after, limit).finally(() => this.#reads.delete(key));
    this.#reads.set(key, read);
    return read;
  }

  async #load(threadId: string, after: number, limit: number): Promise<readonly ReadySegment[]> {
    const stored = await segmentsAfter(this.#db, threadId, after, limit);
    const segments = stored.map(({ firstSeq, lastSeq, text }) => ({ firstSeq, lastSeq, bytes: Buffer.from(text) }));
    for (const segment of segments) this.#hot?.set(keyOf(threadId, segment.firstSeq), segment);
    const [first, ...rest] = segments;
    if (first === undefined || first.firstSeq > after) return segments;
    const bytes = bytesAfter(first.bytes, after);
    if (bytes === null)
      throw new Error(`segment ${String(first.firstSeq)} of ${threadId} lacks delivery ${String(after)}`);
    return [{ ...first, firstSeq: after + 1, bytes }, ...rest];
  }
}

function keyOf(threadId: string, firstSeq: number): string {
  return `${threadId} ${String(firstSeq)}`;
}

import type { Query } from './transport.ts';

/** Where following begins: behind a cursor, at the head, or at the first delivery that is still there. */
export type ThreadStart = number | 'head' | 'oldest';

/**
 * Where a follower stands in a thread's log.
 *
 * **Contract:** without a filter the log is dense, so each delivery is the one after the last: an older one was given before,
 * and a later one means that something was lost on the way, which is an error and never passed over.
 */
export class ThreadPlace {
  /** Null until the server has said where the head or the oldest delivery is. */
  position: number | null;
  readonly #isDense: boolean;
  #start: ThreadStart;

  constructor(start: ThreadStart, isDense: boolean) {
    this.#start = start;
    this.#isDense = isDense;
    this.position = typeof start === 'number' ? start : null;
  }

  /** The part of the stream's query that says where to begin. */
  query(): Query {
    if (this.position !== null) return { after: this.position };
    return this.#start === 'head' ? { tail: 1 } : { from: 'oldest' };
  }

  /** What was behind the cursor is gone: the next connection begins at what is there. */
  restart(): void {
    this.#start = 'oldest';
    this.position = null;
  }

  /**
   * Takes a delivery; false for one that was given before.
   *
   * @throws Error for one that leaves others out.
   */
  take(deliverySeq: number): boolean {
    if (this.position !== null && deliverySeq <= this.position) return false;
    this.#assertNoGap(deliverySeq - 1);
    this.position = deliverySeq;
    return true;
  }

  /**
   * Takes the server's word that there is nothing to be shown up to here.
   *
   * @throws Error where there must be.
   */
  moveTo(deliverySeq: number): void {
    if (this.position !== null && deliverySeq <= this.position) return;
    this.#assertNoGap(deliverySeq);
    this.position = deliverySeq;
  }

  #assertNoGap(upTo: number): void {
    if (!this.#isDense || this.position === null || upTo <= this.position) return;
    throw new Error(
      `the stream went from ${String(this.position)} on to ${String(upTo + 1)} and left out what is between`,
    );
  }
}

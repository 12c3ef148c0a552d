import type { DeliveryRow } from '../infra/postgres/delivery.ts';
import { DeliveryChunk } from './delivery-chunk.ts';

/** Someone who wants every delivery of a thread after `position`, in order. */
export interface Subscriber {
  readonly position: number;
  /** Called with chunks that reach beyond `position`, which the subscriber then moves to the chunk's end. */
  deliver(chunk: DeliveryChunk): void;
  /** Called once, and nothing after it: the thread was erased. */
  gone?(): void;
}

/** Recent chunks are kept so that a reader behind a fast writer meets the feed: a few pages' worth, a few seconds long. */
const RING = { bytes: 512 * 1024, chunks: 128, ageMs: 10_000 };

/**
 * The live end of one thread in this gateway: new deliveries are read once, encoded once, handed to every subscriber.
 *
 * **Contract:** each subscriber gets each delivery after its position once and in order. It joins while its position is
 * inside what the ring still holds, or ahead of the feed; otherwise it reads on from the log and tries again.
 */
export class ThreadFeed {
  readonly threadId: string;
  /** The last delivery that this feed has read. */
  position: number;
  /** Who keeps the feed alive: subscribers, and readers on their way to become one. */
  holders = 0;
  /** When the next read is due at the earliest: a busy thread is read and written once a tick. */
  dueAt = 0;
  readonly #subscribers = new Set<Subscriber>();
  readonly #ring: { readonly chunk: DeliveryChunk; readonly at: number }[] = [];
  #ringBytes = 0;
  #isGone = false;

  constructor(threadId: string, position: number) {
    this.threadId = threadId;
    this.position = position;
  }

  /** True: from now on the subscriber is told everything. False: what follows its position has left the ring. */
  join(subscriber: Subscriber): boolean {
    if (this.#isGone) {
      subscriber.gone?.();
      return true;
    }
    const ringStart = this.#ring[0]?.chunk.firstSeq ?? this.position + 1;
    if (subscriber.position + 1 < ringStart) return false;
    for (const { chunk } of this.#ring) tell(subscriber, chunk);
    this.#subscribers.add(subscriber);
    return true;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** The thread was erased: everyone is told, and who joins later is told at once. */
  end(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const subscriber of this.#subscribers) subscriber.gone?.();
    this.#subscribers.clear();
  }

  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Takes the rows that follow the feed's position, at least one; the chunk that they make. */
  publish(rows: readonly DeliveryRow[], now: number): DeliveryChunk {
    const chunk = new DeliveryChunk(this.threadId, rows);
    this.position = chunk.lastSeq;
    this.#ring.push({ chunk, at: now });
    this.#ringBytes += chunk.bytes.length;
    for (const subscriber of this.#subscribers) tell(subscriber, chunk);
    this.trim(now);
    return chunk;
  }

  /** Forgets what is too old or too much; an idle thread keeps nothing. */
  trim(now: number): void {
    for (let oldest = this.#ring[0]; oldest !== undefined; oldest = this.#ring[0]) {
      const isOverfull = this.#ring.length > RING.chunks || (this.#ringBytes > RING.bytes && this.#ring.length > 1);
      if (!isOverfull && now - oldest.at < RING.ageMs) return;
      this.#ring.shift();
      this.#ringBytes -= oldest.chunk.bytes.length;
    }
  }
}

function tell(subscriber: Subscriber, chunk: DeliveryChunk): void {
  if (chunk.lastSeq > subscriber.position) subscriber.deliver(chunk);
}

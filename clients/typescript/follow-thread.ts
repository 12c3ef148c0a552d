import type { CanonicalKind } from '../../contract/canonical.ts';
import { TidemarkApiError } from './api-error.ts';
import { backoffMs, pause } from './backoff.ts';
import type { StreamBlock } from './event-stream-parser.ts';
import { invalidStream, readConnection } from './thread-connection.ts';
import { readCompletion, readEvent, type ThreadItem } from './thread-item.ts';
import { ThreadPlace, type ThreadStart } from './thread-place.ts';
import type { Transport } from './transport.ts';

export interface FollowOptions {
  /** The cursor to go on behind (default 0: the whole log), `head` for what comes, `oldest` for what is there. */
  readonly after?: ThreadStart;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Only events of these kinds; completion records always come. */
  readonly kinds?: readonly CanonicalKind[];
  readonly runId?: string;
  /** When retention has removed what follows the cursor: an error (default), or go on with the oldest there is. */
  readonly onCursorLost?: 'throw' | 'oldest';
  /** Told when a connection is lost and how long it waits before the next. */
  readonly onReconnect?: (lost: { readonly error: TidemarkApiError | null; readonly inMs: number }) => void;
  /** So long without a byte, and the connection is made anew (default 45,000; the server says something every 15 s). */
  readonly silenceMs?: number;
}

const SILENCE_MS = 45_000;
const RETRY_MS = 1_000;
const RETRY_CAP_MS = 30_000;
/** So many connections in a row that say what cannot be, without a delivery in between, are no accident. */
const INVALID_LIMIT = 8;

/**
 * Follows a thread: everything after the cursor, then what comes, over as many connections as it takes.
 *
 * **Contract:** each delivery once and in order. A connection that breaks, falls silent, leaves something out or says what
 * cannot be is made anew from the last delivery given, after the server's `retry` and longer each time. Ends with `gone` when
 * the thread is erased, and without an error when the signal aborts. What cannot be mended by coming back (401, 404, 410, 416)
 * is thrown.
 */
export async function* followThread(
  transport: Transport,
  threadId: string,
  options: FollowOptions = {},
): AsyncGenerator<ThreadItem, void, undefined> {
  const { signal, kinds, runId, silenceMs = SILENCE_MS } = options;
  const follower = new Follower(threadId, options);
  const filter = { kinds: kinds?.join(','), run_id: runId };
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    let error: TidemarkApiError | null = null;
    try {
      const query = { ...filter, ...follower.place.query() };
      for await (const block of readConnection({ transport, threadId, query, signal, silenceMs })) {
        if (isOver()) return;
        const item = follower.take(block);
        if (item !== null) yield item;
        if (item?.type === 'gone') return;
      }
    } catch (thrown) {
      if (isOver()) return;
      if (!(thrown instanceof TidemarkApiError)) throw thrown;
      const item = follower.afterError(thrown);
      if (item !== null) yield item;
      if (item?.type === 'gone') return;
      error = thrown;
    }
    if (isOver()) return;
    const inMs = follower.waitMs(error);
    options.onReconnect?.({ error, inMs });
    await pause(inMs, signal);
  }
}

/** What is known of the thread and of its stream, over all connections. */
class Follower {
  readonly place: ThreadPlace;
  readonly #threadId: string;
  readonly #onCursorLost: 'throw' | 'oldest';
  #retryMs = RETRY_MS;
  /** Connections that ended since the last one that came through. */
  #failures = 0;
  #invalid = 0;
  #isKnown = false;
  #isCaughtUp = false;

  constructor(threadId: string, { after = 0, kinds, runId, onCursorLost = 'throw' }: FollowOptions) {
    this.#threadId = threadId;
    this.#onCursorLost = onCursorLost;
    this.place = new ThreadPlace(after, kinds === undefined && runId === undefined);
  }

  /** What a block means for the one who follows; null for nothing. */
  take(block: StreamBlock): ThreadItem | null {
    this.#isKnown = true;
    if (block.retryMs !== null) this.#retryMs = Math.min(block.retryMs, RETRY_CAP_MS);
    try {
      return this.#read(block);
    } catch (error) {
      throw invalidStream(error);
    }
  }

  /** The item that a failure becomes; null when coming back may help. */
  afterError(error: TidemarkApiError): ThreadItem | null {
    if (error.code === 'stream_invalid' && ++this.#invalid >= INVALID_LIMIT) throw error;
    if (error.code === 'thread_not_found' && this.#isKnown) return { type: 'gone' };
    const isLost = error.code === 'cursor_expired' || error.code === 'cursor_beyond_head';
    if (isLost && this.#onCursorLost === 'oldest' && this.place.position !== null) {
      const after = this.place.position;
      this.place.restart();
      return { type: 'cursor-lost', after, code: error.code };
    }
    if (!error.mayPass) throw error;
    return null;
  }

  waitMs(error: TidemarkApiError | null): number {
    this.#failures += 1;
    return error?.retryAfterMs ?? backoffMs(this.#failures, this.#retryMs, RETRY_CAP_MS);
  }

  #read({ id, event, data }: StreamBlock): ThreadItem | null {
    if (data === null) {
      if (id !== null) this.place.moveTo(cursorOf(id));
      return null;
    }
    switch (event) {
      case 'canonical':
      case 'canonical-complete':
        return this.#delivery(id, data);
      case 'caught-up':
        return this.#caughtUp(data);
      case 'gone':
        return { type: 'gone' };
      default:
        // a heartbeat, a drain, or what a newer server says: where it has a cursor, that one counts
        if (id !== null) this.place.moveTo(cursorOf(id));
        return null;
    }
  }

  #delivery(id: string | null, data: string): ThreadItem | null {
    const said = JSON.parse(data) as { threadId?: unknown; event?: unknown; complete?: unknown };
    if (said.threadId !== this.#threadId) throw new Error(`a delivery is of thread ${String(said.threadId)}`);
    const item = said.event === undefined ? readCompletion(said.complete) : readEvent(said.event);
    if (id === null || cursorOf(id) !== item.deliverySeq) throw new Error(`delivery ${id ?? 'without id'} is another`);
    if (!this.place.take(item.deliverySeq)) return null;
    this.#failures = 0;
    this.#invalid = 0;
    return item;
  }

  #caughtUp(data: string): ThreadItem | null {
    const { head } = JSON.parse(data) as { head?: unknown };
    if (typeof head !== 'number' || !Number.isSafeInteger(head)) throw new Error('caught-up without a head');
    this.place.moveTo(head);
    this.#failures = 0;
    if (this.#isCaughtUp) return null;
    this.#isCaughtUp = true;
    return { type: 'caught-up', head };
  }
}

function cursorOf(id: string): number {
  if (/^\d{1,16}$/.test(id)) return Number(id);
  throw new Error(`${JSON.stringify(id.slice(0, 40))} is no cursor`);
}

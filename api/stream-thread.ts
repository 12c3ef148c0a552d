import type { ServerResponse } from 'node:http';
import { encodeCaughtUp, encodeGone } from '../contract/encoders/canonical.ts';
import { sseCursor } from '../contract/encoders/sse.ts';
import { TidemarkError } from '../contract/errors.ts';
import type { DeliveryChunk } from './delivery-chunk.ts';
import type { DeliveryFilter } from './delivery-filter.ts';
import type { Hub } from './hub.ts';
import type { Heartbeat } from './open-streams.ts';
import type { Replay, ReplayPart } from './replay.ts';
import type { Subscriber, ThreadFeed } from './thread-feed.ts';
import { patiently } from './patience.ts';
import type { WriteStream } from './write-stream.ts';

export interface ThreadStreamRequest {
  readonly threadId: string;
  readonly after: number;
  /** The thread's head when the request came: what is stored up to here is sent before `caught-up`. */
  readonly head: number;
  readonly filter: DeliveryFilter | null;
  readonly heartbeat: Heartbeat;
  /** The client has no cursor yet and is told where it stands, so that it comes back to here. */
  readonly sayCursor?: boolean;
}

/**
 * Streams a thread's deliveries after a cursor over a response, from the log and then live, until either side ends it.
 * The one way in which any route streams a thread. Sends the headers of a stream if none were sent.
 *
 * **Contract:** every delivery after the cursor once and in order, with no seam where the log ends and the live feed begins;
 * `caught-up` once in between. A database that is away makes the stream wait, not fail. A thread that is erased ends it with
 * `gone`.
 *
 * @throws TidemarkError `draining`, before anything was written.
 */
export async function streamThread(hub: Hub, res: ServerResponse, request: ThreadStreamRequest): Promise<void> {
  const { threadId, filter } = request;
  const stream = hub.open(res, threadId, request.heartbeat);
  if (!res.headersSent) stream.openSse();
  if (request.sayCursor === true && request.after > 0) stream.write(sseCursor(request.after));
  const subscriber = new StreamSubscriber(hub, stream, request);
  const feed = hub.follow(threadId, request.head);
  try {
    if (!(await catchUp(hub.replay(threadId, filter), { hub, feed, stream, subscriber, head: request.head }))) return;
    stream.write(encodeCaughtUp(threadId, subscriber.position));
    await stream.closed;
  } catch (error) {
    // the log was cut under the replay: by an erasure, or by retention, of which the client is told when it comes back
    if (error instanceof TidemarkError && error.code === 'cursor_expired') {
      if (await hub.isGone(threadId).catch(() => false)) subscriber.gone();
      else stream.end();
    } else if (stream.isOpen) hub.abandon(stream, threadId, error);
  } finally {
    feed.leave(subscriber);
    hub.unfollow(feed);
  }
}

/** Replays until the subscriber has met the feed; false when the stream is over before. */
async function catchUp(
  replay: Replay,
  live: { hub: Hub; feed: ThreadFeed; stream: WriteStream; subscriber: StreamSubscriber; head: number },
): Promise<boolean> {
  const { hub, feed, stream, subscriber, head } = live;
  while (subscriber.position < head || !feed.join(subscriber)) {
    const part = await patiently(stream, () => replay.next(subscriber.position));
    if (feed.isGone || (part === null && (await hub.isGone(feed.threadId)))) {
      subscriber.gone();
      return false;
    }
    if (part === null) throw new Error(`the log ends at ${String(subscriber.position)}, before its head`);
    subscriber.send(part);
    if (!(await stream.drained())) return false;
  }
  return true;
}

class StreamSubscriber implements Subscriber {
  position: number;
  readonly #hub: Hub;
  readonly #stream: WriteStream;
  readonly #filter: DeliveryFilter | null;
  readonly #threadId: string;

  constructor(hub: Hub, stream: WriteStream, { threadId, filter, after }: ThreadStreamRequest) {
    this.#hub = hub;
    this.#stream = stream;
    this.#filter = filter;
    this.#threadId = threadId;
    this.position = after;
  }

  gone(): void {
    this.#stream.end(encodeGone(this.#threadId));
  }

  deliver(chunk: DeliveryChunk): void {
    const { bytes, count } = chunk.select(this.#filter, this.position);
    this.position = chunk.lastSeq;
    this.#stream.push(bytes);
    this.#hub.countSent(count);
  }

  send(part: ReplayPart): void {
    this.position = part.lastSeq;
    this.#stream.write(part.bytes);
    this.#hub.countSent(part.count);
  }
}

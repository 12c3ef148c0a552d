import type { ServerResponse } from 'node:http';
import { TidemarkError } from '../contract/errors.ts';
import type { Logger } from '../infra/log.ts';
import { headsOf } from '../infra/postgres/delivery.ts';
import type { Queryable } from '../infra/postgres/transaction.ts';
import type { DeliveryFilter } from './delivery-filter.ts';
import { LiveThreads } from './live-threads.ts';
import { RefusalLog } from './refusal-log.ts';
import { OpenStreams, type Heartbeat } from './open-streams.ts';
import { inTurns } from './query-turns.ts';
import { Replay } from './replay.ts';
import { SegmentCache } from './segment-cache.ts';
import type { ThreadFeed } from './thread-feed.ts';
import type { WriteLimits, WriteStream } from './write-stream.ts';

export interface HubSettings extends WriteLimits {
  /** The safety net: how often heads are asked for when no wake-up comes. */
  readonly pollMs: number;
  /** How many replays ask the database at the same time; below the pool's size. */
  readonly replayReads: number;
  /** How long a stream may take over its last bytes when the gateway drains. */
  readonly drainGraceMs: number;
}

const SETTINGS: HubSettings = {
  maxUnsentBytes: 4 * 1024 * 1024,
  stallMs: 60_000,
  heartbeatMs: 15_000,
  pollMs: 1_500,
  replayReads: 4,
  drainGraceMs: 1_000,
};

export interface HubOptions {
  readonly pool: Queryable;
  readonly databaseUrl: string;
  readonly log: Logger;
  readonly segmentCacheBytes: number;
  /** What a test needs smaller. */
  readonly settings?: Partial<HubSettings>;
}

export interface HubMetrics {
  readonly subscribers: number;
  readonly buffered_bytes: number;
  readonly closed_slow: number;
  readonly closed_stalled: number;
  readonly listen_lost: number;
  readonly deliveries_sent: number;
}

export function createHub(options: HubOptions): Hub {
  return new Hub(options);
}

/** A gateway's streams: who is connected, what they follow, and where replays are read. */
export class Hub {
  /** The gateway's pool, asked by a few replays at a time. */
  readonly replayDb: Queryable;
  /** What the coordinator boundary of lifecycle v1 refused. */
  readonly refusals: RefusalLog;
  readonly #log: Logger;
  readonly #settings: HubSettings;
  readonly #live: LiveThreads;
  readonly #streams: OpenStreams;
  readonly #segments: SegmentCache;
  readonly #draining = new AbortController();
  #sent = 0;

  constructor({ pool, databaseUrl, log, segmentCacheBytes, settings }: HubOptions) {
    this.#log = log;
    this.refusals = new RefusalLog(log);
    this.#settings = { ...SETTINGS, ...settings };
    this.replayDb = inTurns(pool, this.#settings.replayReads);
    this.#live = new LiveThreads({ db: pool, databaseUrl, log, pollMs: this.#settings.pollMs });
    this.#streams = new OpenStreams(this.#settings, log);
    this.#segments = new SegmentCache(this.replayDb, segmentCacheBytes);
  }

  /** Resolves when wake-ups arrive, or when the first attempt to listen failed; until one works the poll serves. */
  async start(): Promise<void> {
    this.#streams.start();
    await this.#live.start();
  }

  /**
   * Lets every subscriber go, evenly over `ms`, so that they do not all come back in the same instant, and takes no more.
   * Resolves when all are closed; one that does not take its last bytes is cut.
   */
  async drain(ms: number): Promise<void> {
    this.#draining.abort();
    this.#log.info({ subscribers: this.#streams.size, ms }, 'streams draining');
    await this.#streams.letGo(ms, this.#settings.drainGraceMs);
  }

  async stop(): Promise<void> {
    this.#draining.abort();
    this.#streams.stop();
    await this.#live.stop();
  }

  metrics(): HubMetrics {
    return {
      subscribers: this.#streams.size,
      buffered_bytes: this.#streams.unsentBytes,
      closed_slow: this.#streams.closed.slow,
      closed_stalled: this.#streams.closed.stalled,
      listen_lost: this.#live.listener.lostCount(),
      deliveries_sent: this.#sent,
    };
  }

  get isOpen(): boolean {
    return !this.#draining.signal.aborted;
  }

  /** @throws TidemarkError `draining` once the gateway is on its way down. */
  assertOpen(): void {
    if (this.isOpen) return;
    throw new TidemarkError(
      'draining',
      'this gateway is shutting down',
      'Send the request again: another gateway answers.',
    );
  }

  /** Takes charge of a response that streams a thread. */
  open(res: ServerResponse, threadId: string, heartbeat: Heartbeat): WriteStream {
    this.assertOpen();
    return this.#streams.add(res, threadId, heartbeat);
  }

  /** A stream that cannot go on. */
  abandon(stream: WriteStream, threadId: string, error: unknown): void {
    this.#log.error({ err: error, threadId }, 'stream broken off; it resumes by cursor');
    stream.destroy();
  }

  follow(threadId: string, head: number): ThreadFeed {
    return this.#live.follow(threadId, head);
  }

  unfollow(feed: ThreadFeed): void {
    this.#live.unfollow(feed);
  }

  replay(threadId: string, filter: DeliveryFilter | null): Replay {
    return new Replay({ db: this.replayDb, segments: this.#segments, threadId, filter });
  }

  countSent(deliveries: number): void {
    this.#sent += deliveries;
  }

  /** Whether a thread was erased. */
  async isGone(threadId: string): Promise<boolean> {
    return !(await headsOf(this.replayDb, [threadId])).has(threadId);
  }

  /**
   * Resolves when the thread has a delivery after the cursor, when `signal` aborts, when the gateway drains, or, with false, when
   * the thread is gone.
   */
  async waitForNews(threadId: string, after: number, signal: AbortSignal): Promise<boolean> {
    const over = AbortSignal.any([signal, this.#draining.signal]);
    if (over.aborted) return true;
    const news = Promise.withResolvers<boolean>();
    over.addEventListener('abort', () => news.resolve(true), { once: true });
    const subscriber = { position: after, deliver: () => news.resolve(true), gone: () => news.resolve(false) };
    const feed = this.follow(threadId, after);
    const isThere = feed.join(subscriber) ? await news.promise : true;
    feed.leave(subscriber);
    this.unfollow(feed);
    return isThere;
  }
}

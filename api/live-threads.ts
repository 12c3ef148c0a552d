import type { Logger } from '../infra/log.ts';
import { headsOf } from '../infra/postgres/delivery.ts';
import { DELIVERY_CHANNEL } from '../infra/postgres/lane-rows.ts';
import { createListener, type Listener } from '../infra/postgres/listener.ts';
import type { Queryable } from '../infra/postgres/transaction.ts';
import { FeedReader } from './feed-reader.ts';
import { ThreadFeed } from './thread-feed.ts';

interface LiveThreadsOptions {
  readonly db: Queryable;
  readonly databaseUrl: string;
  readonly log: Logger;
  readonly pollMs: number;
}

/**
 * The threads that somebody follows in this gateway, each with its one feed.
 *
 * **Contract:** a wake-up only says where to look. While the listen connection is gone the feeds slow down to the poll and
 * do not stop; every reconnect looks at all of them.
 */
export class LiveThreads {
  readonly listener: Listener;
  readonly #options: LiveThreadsOptions;
  readonly #reader: FeedReader;
  readonly #feeds = new Map<string, ThreadFeed>();
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  #hasPollFailed = false;

  constructor(options: LiveThreadsOptions) {
    const { db, databaseUrl, log } = options;
    this.#options = options;
    this.#reader = new FeedReader(db, log);
    this.listener = createListener({
      databaseUrl,
      channels: [DELIVERY_CHANNEL],
      onNotify: (_channel, payload) => this.#wake(payload),
      onConnect: () => void this.#poll(),
      log,
    });
  }

  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#poll(), this.#options.pollMs);
    await this.listener.start();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#reader.stop();
    await Promise.all([this.listener.stop(), this.#polling]);
  }

  /** The feed of a thread, kept until `unfollow`. `head` is where a new one begins. */
  follow(threadId: string, head: number): ThreadFeed {
    let feed = this.#feeds.get(threadId);
    if (feed === undefined) {
      feed = new ThreadFeed(threadId, head);
      this.#feeds.set(threadId, feed);
      // a wake-up that came after `head` was read found no feed to wake
      this.#reader.wake([feed]);
    }
    feed.holders += 1;
    return feed;
  }

  unfollow(feed: ThreadFeed): void {
    feed.holders -= 1;
    if (feed.holders > 0) return;
    this.#feeds.delete(feed.threadId);
    this.#reader.forget(feed);
  }

  #wake(payload: string): void {
    const threadIds = threadIdsIn(payload);
    if (threadIds === null) void this.#poll();
    else this.#reader.wake(threadIds.flatMap((threadId) => this.#feeds.get(threadId) ?? []));
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#lookAtHeads().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async #lookAtHeads(): Promise<void> {
    const now = performance.now();
    for (const feed of this.#feeds.values()) feed.trim(now);
    const asked = [...this.#feeds.values()];
    if (asked.length === 0) return;
    try {
      const heads = await headsOf(
        this.#options.db,
        asked.map(({ threadId }) => threadId),
      );
      this.#reader.wake(asked.filter((feed) => (heads.get(feed.threadId) ?? 0) > feed.position));
      for (const feed of asked) if (!heads.has(feed.threadId)) feed.end();
      this.#hasPollFailed = false;
    } catch (error) {
      if (!this.#hasPollFailed) this.#options.log.warn({ err: error }, 'heads of threads cannot be read; trying on');
      this.#hasPollFailed = true;
    }
  }
}

/** Null for one that asks for a look at all heads: a thread is gone, or it is not ours (anybody with access can send one). */
function threadIdsIn(payload: string): string[] | null {
  try {
    const ids: unknown = JSON.parse(payload);
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : null;
  } catch {
    return null;
  }
}

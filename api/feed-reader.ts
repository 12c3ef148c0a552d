import { deliveryTails } from '../infra/postgres/delivery-page.ts';
import type { Logger } from '../infra/log.ts';
import type { Queryable } from '../infra/postgres/transaction.ts';
import type { ThreadFeed } from './thread-feed.ts';

/** One query reads so many threads, so much of each. */
const BATCH = { feeds: 64, rows: 1_000, bytes: 256 * 1024 };
/** A busy thread is written this far apart: the more a write costs, the more it gathers (perf.md, fan-out). */
const TICK_MS = { least: 10, most: 25 };
const RETRY_MS = 250;

/**
 * Reads what is new for the feeds that were woken: one query at a time for all of them, at once when idle, gathering
 * wake-ups while a query is in flight.
 *
 * **Contract:** a wake-up is never lost: a read that fails is repeated, a page that was full is followed by the next.
 */
export class FeedReader {
  readonly #db: Queryable;
  readonly #log: Logger;
  readonly #dirty = new Set<ThreadFeed>();
  #isReading = false;
  #isStopped = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(db: Queryable, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  wake(feeds: Iterable<ThreadFeed>): void {
    for (const feed of feeds) this.#dirty.add(feed);
    this.#schedule();
  }

  forget(feed: ThreadFeed): void {
    this.#dirty.delete(feed);
  }

  stop(): void {
    this.#isStopped = true;
    this.#dirty.clear();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isReading || this.#isStopped || this.#dirty.size === 0) return;
    let dueAt = Infinity;
    for (const feed of this.#dirty) dueAt = Math.min(dueAt, feed.dueAt);
    const waitMs = dueAt - performance.now();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (waitMs <= 0) void this.#read();
    else this.#timer = setTimeout(() => void this.#read(), waitMs);
  }

  async #read(): Promise<void> {
    this.#timer = null;
    this.#isReading = true;
    const now = performance.now();
    const due = [...this.#dirty].filter((feed) => feed.dueAt <= now + 1).slice(0, BATCH.feeds);
    for (const feed of due) this.#dirty.delete(feed);
    try {
      const tails = due.map((feed) => ({ threadId: feed.threadId, after: feed.position }));
      const pages = await deliveryTails(this.#db, tails, BATCH);
      for (const feed of due) this.#publish(feed, pages.get(feed.threadId) ?? []);
      this.#noteFailure(null);
    } catch (error) {
      this.#noteFailure(error);
      for (const feed of due) {
        feed.dueAt = performance.now() + RETRY_MS;
        if (feed.holders > 0) this.#dirty.add(feed);
      }
    }
    this.#isReading = false;
    this.#schedule();
  }

  /** One line when reading fails and one when it works again. */
  #noteFailure(error: unknown): void {
    if (error !== null && !this.#hasFailed) this.#log.warn({ err: error }, 'new deliveries cannot be read; trying on');
    if (error === null && this.#hasFailed) this.#log.info('new deliveries are read again');
    this.#hasFailed = error !== null;
  }

  #publish(feed: ThreadFeed, rows: Parameters<ThreadFeed['publish']>[0]): void {
    if (rows.length === 0 || feed.holders === 0) return;
    const startedAt = performance.now();
    const chunk = feed.publish(rows, startedAt);
    const costMs = performance.now() - startedAt;
    const isPageFull = rows.length >= BATCH.rows || chunk.bytes.length >= BATCH.bytes;
    feed.dueAt = isPageFull ? 0 : startedAt + Math.min(TICK_MS.most, Math.max(TICK_MS.least, 2 * costMs));
    if (isPageFull) this.#dirty.add(feed);
  }
}

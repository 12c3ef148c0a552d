import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { Queryable } from '../infra/postgres/transaction.ts';
import { FeedReader } from './feed-reader.ts';
import { ThreadFeed } from './thread-feed.ts';

const silent = pino({ level: 'silent' });

const warning = (thread_id: string, delivery_seq: number): object => ({
  thread_id,
  delivery_seq,
  run_id: 'run',
  record: 'event',
  kind: 'harness.warning',
  revision: 0,
  retracted: false,
  body: '{"kind":"harness.warning"}',
});

/** A log that grows by itself: what is new of each thread that is asked for. */
class GrowingLog {
  readonly heads = new Map<string, number>();
  readonly queries: string[][] = [];
  failing = false;
  readonly query = (async ({ values }: { values: [string[], number[], number] }) => {
    await sleep(1);
    if (this.failing) throw new Error('away');
    const [threadIds, afters, limit] = values;
    this.queries.push(threadIds);
    const rows = threadIds.flatMap((threadId, at) => {
      const after = afters[at] ?? 0;
      const count = Math.min(limit, (this.heads.get(threadId) ?? 0) - after);
      return Array.from({ length: count }, (_, i) => warning(threadId, after + 1 + i));
    });
    return { rows };
  }) as unknown as Queryable['query'];
}

function world(threads: number): { log: GrowingLog; reader: FeedReader; feeds: ThreadFeed[] } {
  const log = new GrowingLog();
  const reader = new FeedReader(log, silent);
  onTestFinished(() => reader.stop());
  const feeds = Array.from({ length: threads }, (_, i) => new ThreadFeed(`thr${String(i)}`, 0));
  for (const feed of feeds) feed.holders = 1;
  return { log, reader, feeds };
}

test('an idle thread is read at once, a busy one once a tick', async () => {
  const { log, reader, feeds } = world(1);
  const startedAt = performance.now();
  for (let head = 1; performance.now() - startedAt < 300; head++) {
    log.heads.set('thr0', head);
    reader.wake(feeds);
    if (head === 1) {
      await expect.poll(() => feeds[0]?.position, { interval: 1 }).toBe(1);
      expect(performance.now() - startedAt).toBeLessThan(50);
    }
    await sleep(1);
  }
  await sleep(50);
  expect(feeds[0]?.position).toBe(log.heads.get('thr0'));
  expect(log.queries.length).toBeLessThan(40);
  expect(log.queries.length).toBeGreaterThan(3);
});

test('threads that are woken together, or while a query is in flight, are read by one query', async () => {
  const { log, reader, feeds } = world(50);
  for (const feed of feeds) log.heads.set(feed.threadId, 3);
  reader.wake(feeds.slice(0, 1));
  reader.wake(feeds.slice(1));
  await expect.poll(() => feeds.every(({ position }) => position === 3)).toBe(true);
  expect(log.queries.map((threads) => threads.length)).toEqual([1, 49]);
});

test('a long backlog is read page after page, and a read that fails is repeated', async () => {
  const { log, reader, feeds } = world(1);
  log.heads.set('thr0', 3_500);
  log.failing = true;
  reader.wake(feeds);
  await sleep(50);
  log.failing = false;
  await expect.poll(() => feeds[0]?.position, { timeout: 3_000 }).toBe(3_500);
});

test('a thread that nobody follows any more is not read', async () => {
  const { log, reader, feeds } = world(2);
  for (const feed of feeds) log.heads.set(feed.threadId, 1);
  reader.wake(feeds.slice(0, 1));
  reader.wake(feeds.slice(1));
  for (const feed of feeds.slice(1)) {
    feed.holders = 0;
    reader.forget(feed);
  }
  await sleep(30);
  expect(log.queries).toEqual([['thr0']]);
});

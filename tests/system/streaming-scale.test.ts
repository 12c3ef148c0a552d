import { fc } from '../../contract/property-testkit.ts';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { Replay } from '../../api/replay.ts';
import { SegmentCache } from '../../api/segment-cache.ts';
import { encodeDelivery } from '../../contract/encoders/canonical.ts';
import { writeReplaySegments } from '../../infra/postgres/replay-segment.ts';
import type { Queryable } from '../../infra/postgres/transaction.ts';
import { forkStreamGateway, forkWriter } from '../fixtures/gateway-process.ts';
import { sequence } from '../fixtures/sse-client.ts';
import { useStreaming } from '../fixtures/streaming.ts';
import { appendText, createThread, deliveriesAfter } from '../fixtures/threads.ts';

const world = useStreaming();
const LENGTH = 60;
const MIB = 1024 * 1024;

async function straightRead(pool: pg.Pool, threadId: string): Promise<string[]> {
  const rows = await deliveriesAfter(pool, threadId, 0, 100_000);
  return rows.map((row) => encodeDelivery(threadId, row));
}

/** Segments that end after the given deliveries, in place of those that are there. */
async function cutSegments(threadId: string, frames: readonly string[], ends: readonly number[]): Promise<void> {
  await world.pool.query('delete from replay_segment where thread_id = $1', [threadId]);
  let first = 1;
  for (const last of ends) {
    const body = frames.slice(first - 1, last).join('');
    await world.pool.query('insert into replay_segment values ($1, $2, $3, $4)', [threadId, first, last, body]);
    first = last + 1;
  }
}

/** The database, giving pages of other sizes than it is asked for. */
function withPagesOf(rows: number): Queryable {
  return {
    query: (async (config: pg.QueryConfig<unknown[]>) => {
      if (config.name === 'delivery-page') config.values?.splice(2, 1, rows);
      return await world.pool.query(config);
    }) as Queryable['query'],
  };
}

test('from any cursor, over any pages and segments, hot or cold, the bytes are those of a straight read', async () => {
  const thread = await createThread(world.pool);
  for (let i = 1; i < LENGTH; i++) await appendText(world.pool, thread, 'msg', `id: ${String(i)} — 🌊\n\nid: 7\n`);
  const { threadId } = thread;
  const frames = await straightRead(world.pool, threadId);
  expect(frames).toHaveLength(LENGTH);
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: LENGTH }), { maxLength: 12 });
  const cursors = fc.array(fc.integer({ min: 0, max: LENGTH }), { minLength: 1, maxLength: 4 });
  const run = async (ends: number[], pageRows: number, cacheBytes: number, starts: number[]): Promise<void> => {
    await cutSegments(
      threadId,
      frames,
      ends.toSorted((a, b) => a - b),
    );
    const db = withPagesOf(pageRows);
    const segments = new SegmentCache(db, cacheBytes);
    for (const start of starts) {
      const replay = new Replay({ db, segments, threadId, filter: null });
      const parts: Buffer[] = [];
      let position = start;
      for (let part = await replay.next(position); part !== null; part = await replay.next(position)) {
        expect(part.count).toBe(part.lastSeq - position);
        parts.push(part.bytes);
        position = part.lastSeq;
      }
      expect(position).toBe(LENGTH);
      expect(Buffer.concat(parts).toString()).toBe(frames.slice(start).join(''));
    }
  };
  await fc.assert(
    fc.asyncProperty(cuts, fc.integer({ min: 1, max: 80 }), fc.constantFrom(0, 5_000, 1_000_000), cursors, run),
    { numRuns: 60 },
  );
}, 60_000);

test('a long thread is served from any cursor at once, whole, and in bounded memory, while it is written', async () => {
  const count = 20_000;
  const thread = await world.threadWith(count, { padding: 'x'.repeat(500) });
  await writeReplaySegments(world.pool, thread.threadId);
  const gateway = await forkStreamGateway({ databaseUrl: world.databaseUrl, segmentCacheBytes: 4 * MIB });
  const warm = await world.open(gateway.events(thread.threadId, 'tail=1'));
  await warm.until((c) => c.named('caught-up').length === 1);
  const before = await gateway.stats();
  for (const after of [count - 100, 777, 0]) {
    const firstMs: number[] = [];
    for (let i = 0; i < 5; i++) {
      const startedAt = performance.now();
      const stream = await world.open(gateway.events(thread.threadId, `after=${String(after)}`));
      await stream.until((c) => c.lastEventId !== '');
      firstMs.push(performance.now() - startedAt);
      expect(Number(stream.frames.find(({ id }) => id !== undefined)?.id)).toBe(after + 1);
      stream.close();
    }
    expect(Math.min(...firstMs)).toBeLessThan(after === 0 ? 200 : 100);
    if (after === count - 100) expect((await gateway.stats()).rss - before.rss).toBeLessThan(20 * MIB);
  }
  const readers = await Promise.all(sequence(10).map(() => world.open(gateway.events(thread.threadId))));
  const writer = forkWriter(world.databaseUrl, thread);
  let rss = 0;
  for (const reader of readers) {
    await reader.untilId(count, 60_000);
    rss = Math.max(rss, (await gateway.stats()).rss);
  }
  const { head, tookMs } = await writer.stop();
  expect(head).toBeGreaterThan(count);
  for (const reader of readers) {
    await reader.untilId(head);
    expect(reader.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]))).toEqual(sequence(head));
  }
  // ten readers took 18 MB each; what grew is garbage on its way out, and does not grow with the log
  expect(rss - before.rss).toBeLessThan(128 * MIB);
  expect(tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.95)]).toBeLessThan(250);
}, 120_000);

test('a thread of many small runs and one without any segment read alike', async () => {
  const thread = await world.threadWith(300);
  const bare = await world.open(world.gateway.events(thread.threadId), {}, { keepBytes: true });
  await bare.until((c) => c.named('caught-up').length === 1);
  expect(await writeReplaySegments(world.pool, thread.threadId)).toBe(300);
  const sealed = await world.open(world.gateway.events(thread.threadId), {}, { keepBytes: true });
  await sealed.until((c) => c.named('caught-up').length === 1);
  expect(sealed.bytes.equals(bare.bytes)).toBe(true);
});

test('a replay to a client that takes nothing is given up, with little in memory', async () => {
  const thread = await world.threadWith(10_000, { padding: 'x'.repeat(2_000) });
  const gateway = await world.anotherGateway({ settings: { stallMs: 1_000 } });
  const stream = await world.open(gateway.events(thread.threadId));
  stream.stopReading();
  await expect.poll(() => gateway.hub.metrics().buffered_bytes).toBeGreaterThan(0);
  expect(gateway.hub.metrics().buffered_bytes).toBeLessThan(MIB);
  await expect
    .poll(() => gateway.hub.metrics(), { timeout: 5_000 })
    .toMatchObject({ subscribers: 0, buffered_bytes: 0, closed_stalled: 1 });
}, 30_000);

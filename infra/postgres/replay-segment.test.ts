import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeDelivery } from '../../contract/encoders/canonical.ts';
import { createTestDatabase, type TestDatabase } from '../testing/database.ts';
import { appendFrames, appendWarnings, createThread, type TestThread } from '../../tests/fixtures/threads.ts';
import { deliveryPage } from './delivery-page.ts';
import { segmentsAfter, writeReplaySegments } from './replay-segment.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

async function expectWhole({ threadId }: TestThread, coveredTo: number): Promise<{ count: number }> {
  const segments = await segmentsAfter(database.pool, threadId, 0, 10_000);
  let next = 1;
  for (const { firstSeq, lastSeq } of segments) {
    expect(firstSeq).toBe(next);
    next = lastSeq + 1;
  }
  expect(next - 1).toBe(coveredTo);
  const rows = (await deliveryPage(database.pool, threadId, 0, { rows: 100_000, bytes: 1e9 })).slice(0, coveredTo);
  expect(segments.map(({ text }) => text).join('')).toBe(rows.map((row) => encodeDelivery(threadId, row)).join(''));
  return { count: segments.length };
}

test('a log becomes contiguous segments of about 64 KiB, and a repeat adds only what is new', async () => {
  const thread = await createThread(database.pool);
  for (let i = 0; i < 3; i++) await appendWarnings(database.pool, thread, 1_000, { padding: 'x'.repeat(100) });
  const covered = await writeReplaySegments(database.pool, thread.threadId);
  expect(covered).toBeGreaterThan(2_950);
  const { count } = await expectWhole(thread, covered);
  expect(await writeReplaySegments(database.pool, thread.threadId)).toBe(covered);
  expect(await expectWhole(thread, covered)).toEqual({ count });
  const sizes = (await segmentsAfter(database.pool, thread.threadId, 0, 100)).map(({ text }) => text.length);
  expect(Math.max(...sizes)).toBeLessThan(70 * 1024);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(64 * 1024);

  await appendWarnings(database.pool, thread, 100);
  expect(await writeReplaySegments(database.pool, thread.threadId)).toBe(3_100);
  await expectWhole(thread, 3_100);
});

test('a short tail stays rows until more has come, over many small runs', async () => {
  const thread = await createThread(database.pool);
  let covered = 0;
  for (let run = 1; run <= 12; run++) {
    await appendWarnings(database.pool, thread, 10);
    covered = await writeReplaySegments(database.pool, thread.threadId);
    await expectWhole(thread, covered);
    expect(run * 10 - covered).toBeLessThan(50);
  }
  expect(covered).toBeGreaterThan(0);
  const empty = await createThread(database.pool);
  expect(await writeReplaySegments(database.pool, empty.threadId)).toBe(0);
});

test('many writers at once, while the thread grows, make one set of segments', async () => {
  const thread = await createThread(database.pool);
  await appendWarnings(database.pool, thread, 800, { padding: 'x'.repeat(200) });
  const growing = (async () => {
    for (let i = 0; i < 10; i++) await appendWarnings(database.pool, thread, 40);
  })();
  await Promise.all(Array.from({ length: 12 }, () => writeReplaySegments(database.pool, thread.threadId)));
  await growing;
  const covered = await writeReplaySegments(database.pool, thread.threadId);
  expect(covered).toBeGreaterThan(1_100);
  await expectWhole(thread, covered);
});

test('it covers only what is committed', async () => {
  const thread = await createThread(database.pool);
  await appendWarnings(database.pool, thread, 100);
  const client = await database.pool.connect();
  await client.query('begin');
  await appendFrames(client, thread.runId, [{ type: 'run.warning', code: 'test', message: 'taken back' }]);
  const writing = writeReplaySegments(database.pool, thread.threadId);
  await sleep(100);
  await client.query('rollback');
  client.release();
  expect(await writing).toBe(100);
  await expectWhole(thread, 100);
});

test('the segments after a cursor begin with the one that holds it', async () => {
  const thread = await createThread(database.pool);
  await appendWarnings(database.pool, thread, 1_000);
  await writeReplaySegments(database.pool, thread.threadId);
  const all = await segmentsAfter(database.pool, thread.threadId, 0, 100);
  for (const [i, segment] of all.entries()) {
    for (const after of [segment.firstSeq - 1, segment.firstSeq, segment.lastSeq - 1]) {
      expect(await segmentsAfter(database.pool, thread.threadId, after, 2)).toEqual(all.slice(i, i + 2));
    }
  }
  expect(await segmentsAfter(database.pool, thread.threadId, 1_000, 2)).toEqual([]);
  expect(await segmentsAfter(database.pool, 'thr_none', 0, 2)).toEqual([]);
});

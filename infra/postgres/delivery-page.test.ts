import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/database.ts';
import { appendWarnings, createThread } from '../../tests/fixtures/threads.ts';
import { deliveryPage, deliveryTails } from './delivery-page.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

test('a page ends at its bound of rows or of bytes, never before its first row', async () => {
  const thread = await createThread(database.pool);
  await appendWarnings(database.pool, thread, 20, { padding: 'x'.repeat(10_000) });
  const seqs = async (after: number, rows: number, bytes: number): Promise<number[]> =>
    (await deliveryPage(database.pool, thread.threadId, after, { rows, bytes })).map((row) => row.delivery_seq);
  expect(await seqs(0, 3, 1_000_000)).toEqual([1, 2, 3]);
  expect(await seqs(4, 100, 25_000)).toEqual([5, 6, 7]);
  expect(await seqs(4, 100, 1)).toEqual([5]);
  expect(await seqs(18, 100, 1_000_000)).toEqual([19, 20]);
  expect(await seqs(20, 100, 1_000_000)).toEqual([]);
});

test('the tails of many threads are read at once, each from its own cursor and within its own bounds', async () => {
  const threads = await Promise.all(
    [3, 5, 0].map(async (count) => {
      const thread = await createThread(database.pool);
      if (count > 0) await appendWarnings(database.pool, thread, count);
      return thread.threadId;
    }),
  );
  const [first = '', second = '', third = ''] = threads;
  const tails = [
    { threadId: second, after: 1 },
    { threadId: first, after: 2 },
    { threadId: third, after: 0 },
  ];
  const pages = await deliveryTails(database.pool, tails, { rows: 3, bytes: 1_000_000 });
  const seqs = (threadId: string): number[] | undefined => pages.get(threadId)?.map((row) => row.delivery_seq);
  expect([first, second, third].map(seqs)).toEqual([[3], [2, 3, 4], undefined]);
  const same = await deliveryPage(database.pool, first, 2, { rows: 3, bytes: 1_000_000 });
  expect(pages.get(first)).toEqual(same.map((row) => ({ thread_id: first, ...row })));
});

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createApplyRetention } from '../../activities/apply-retention.ts';
import { createEraseDue } from '../../activities/erase-due.ts';
import { loadConfig } from '../../infra/config.ts';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { startAppGateway, type AppGateway } from '../fixtures/app-gateway.ts';
import { Rest } from '../fixtures/rest.ts';
import { rowsOfThread } from '../fixtures/rows-of-thread.ts';
import { silent } from '../fixtures/runs.ts';
import { SseClient } from '../fixtures/sse-client.ts';
import { appendWarnings, createThread, type TestThread } from '../fixtures/threads.ts';

let db: TestDatabase;
let gateway: AppGateway;
let rest: Rest;
let workspaces: string;
let eraseDue: () => Promise<void>;

beforeAll(async () => {
  db = await createTestDatabase();
  gateway = await startAppGateway(db.url);
  rest = new Rest(gateway.url);
  workspaces = await mkdtemp(join(tmpdir(), 'tidemark-erasure-'));
  const config = loadConfig({ TIDEMARK_WORKSPACES: workspaces });
  const work = createEraseDue({ config, pool: db.pool, log: silent, sessionMirror: null });
  eraseDue = async () => await work(new AbortController().signal);
});
afterAll(async () => {
  await gateway?.stop();
  await db?.drop();
  await rm(workspaces, { recursive: true, force: true });
});

/** A thread whose run is over, with a workspace. */
async function doneThread(deliveries: number, state = 'complete'): Promise<TestThread> {
  const thread = await createThread(db.pool);
  for (let left = deliveries; left > 0; left -= 2_000) await appendWarnings(db.pool, thread, Math.min(left, 2_000));
  await db.pool.query(
    `update run set status = 'completed', settled_at = now(), canonical_state = $2 where run_id = $1`,
    [thread.runId, state],
  );
  await mkdir(join(workspaces, thread.threadId));
  return thread;
}

const rowsOf = ({ threadId, runId }: TestThread) => rowsOfThread(db.pool, threadId, [runId]);

async function due(threadId: string): Promise<void> {
  await db.pool.query('update erasure set lease_until = now() where thread_id = $1', [threadId]);
}

test('a large thread is gone for every reader at once, and its rows follow in batches', async () => {
  const thread = await doneThread(12_000);
  const { threadId, runId } = thread;
  await db.pool.query(`update thread set client_thread_id = 'named' where thread_id = $1`, [threadId]);
  const stream = await SseClient.open(`${gateway.url}/v1/threads/${threadId}/events?tail=1`);
  await stream.until((client) => client.named('caught-up').length === 1);
  expect((await rest.send('DELETE', `/v1/threads/${threadId}`)).status).toBe(204);
  expect((await rowsOf(thread))['delivery.thread_id']).toBe(12_000);
  await stream.untilClosed();
  expect(stream.frames.at(-1)?.event).toBe('gone');
  for (const path of [`/v1/threads/${threadId}`, `/v1/threads/${threadId}/events`, `/v1/runs/${runId}`]) {
    expect((await rest.send('GET', path)).status).toBe(404);
  }
  expect((await rest.send('DELETE', `/v1/threads/${threadId}`)).status).toBe(404);
  await db.pool.query(
    `insert into thread (thread_id, tenant_id, client_thread_id) values ('thr_next', 'default', 'named')`,
  );
  await eraseDue();
  expect(await rowsOf(thread)).toEqual({});
  expect(await readdir(workspaces)).not.toContain(threadId);
});

test('a replay that is under way when its thread goes ends as gone', async () => {
  const thread = await doneThread(12_000);
  const stream = await SseClient.open(`${gateway.url}/v1/threads/${thread.threadId}/events`);
  stream.stopReading();
  expect((await rest.send('DELETE', `/v1/threads/${thread.threadId}`)).status).toBe(204);
  await eraseDue();
  stream.response?.resume();
  await stream.untilClosed();
  expect(stream.named('gone').length + stream.named('caught-up').length).toBeGreaterThanOrEqual(1);
  expect((await SseClient.open(`${gateway.url}/v1/threads/${thread.threadId}/events`)).status).toBe(404);
});

test('a gateway that hears no wake-up learns it by its poll', async () => {
  const elsewhere = await createTestDatabase();
  const deaf = await startAppGateway(db.url, { listenUrl: elsewhere.url });
  onTestFinished(async () => {
    await deaf.stop();
    await elsewhere.drop();
  });
  const { threadId } = await doneThread(3);
  const stream = await SseClient.open(`${deaf.url}/v1/threads/${threadId}/events`);
  await stream.until((client) => client.named('caught-up').length === 1);
  expect((await rest.send('DELETE', `/v1/threads/${threadId}`)).status).toBe(204);
  await stream.untilClosed(5_000);
  expect(stream.frames.at(-1)?.event).toBe('gone');
});

test('a run that is settled and not yet proven is waited for; one that cannot be proven is not', async () => {
  const thread = await doneThread(3, 'pending');
  expect((await rest.send('DELETE', `/v1/threads/${thread.threadId}`)).status).toBe(202);
  await eraseDue();
  expect((await rest.send('GET', `/v1/threads/${thread.threadId}`)).body).toMatchObject({ erasing: true });
  await db.pool.query(`update run set canonical_state = 'dead' where run_id = $1`, [thread.runId]);
  await due(thread.threadId);
  await eraseDue();
  expect(await rowsOf(thread)).toEqual({});
  expect(await readdir(workspaces)).not.toContain(thread.threadId);
});

test('a workspace that cannot be removed is said in the erasure’s row and tried again', async () => {
  const { threadId } = await doneThread(3);
  const config = loadConfig({ TIDEMARK_WORKSPACES: '/proc/self/mem/nowhere' });
  expect((await rest.send('DELETE', `/v1/threads/${threadId}`)).status).toBe(204);
  await createEraseDue({ config, pool: db.pool, log: silent, sessionMirror: null })(new AbortController().signal);
  const read = async () =>
    (await db.pool.query('select last_error, workspace_removed_at from erasure where thread_id = $1', [threadId]))
      .rows[0] as {
      last_error: string | null;
      workspace_removed_at: Date | null;
    };
  expect(await read()).toMatchObject({ last_error: expect.stringContaining('ENOTDIR'), workspace_removed_at: null });
  await due(threadId);
  await Promise.all([eraseDue(), eraseDue()]);
  expect(await read()).toMatchObject({ last_error: null, workspace_removed_at: expect.any(Date) });
  expect(await readdir(workspaces)).not.toContain(threadId);
});

test('retention and erasure of the same threads at the same time hold nobody up', async () => {
  const threads = await Promise.all(Array.from({ length: 12 }, async () => await doneThread(400)));
  const runIds = threads.map(({ runId }) => runId);
  await db.pool.query(
    `with old as (update run set settled_at = now() - interval '9 days' where run_id = any($1))
     insert into outbox (run_id, thread_id, state, completed_at)
     select run_id, thread_id, 'complete', now() - interval '9 days' from run where run_id = any($1)`,
    [runIds],
  );
  const config = loadConfig({ TIDEMARK_RETAIN_FRAMES_DAYS: '1', TIDEMARK_RETAIN_DELIVERIES_DAYS: '1' });
  const retention = createApplyRetention({ config, pool: db.pool, log: silent });
  const passes = Array.from({ length: 2 }, async () => await retention(new AbortController().signal));
  const answers = await Promise.all(
    threads.map(async ({ threadId }) => (await rest.send('DELETE', `/v1/threads/${threadId}`)).status),
  );
  await Promise.all(passes);
  expect(answers).toEqual(threads.map(() => 204));
  for (const thread of threads) expect(await rowsOf(thread)).toEqual({});
});

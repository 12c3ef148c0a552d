import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { correlationIdOf } from '../../contract/lifecycle-cut.ts';
import { stateless } from '../../contract/translation.ts';
import { findRun } from '../../infra/postgres/run.ts';
import { inTransaction } from '../../infra/postgres/transaction.ts';
import { useStreaming } from '../../tests/fixtures/streaming.ts';
import { appendFrames, appendText, createThread, type TestThread } from '../../tests/fixtures/threads.ts';
import { streamRun } from './stream-run.ts';

const CANARY = 'sk-canary-9471';
const world = useStreaming();
let server: Server;
let url: string;

beforeAll(async () => {
  const app = express();
  app.get('/:runId/:encoding', async (req, res) => {
    const run = await findRun(world.pool, req.params.runId);
    if (run === null) return void res.sendStatus(404);
    const encoding = req.params.encoding as 'lifecycle';
    await streamRun(world.gateway.hub, res, { run, encoding, leg: 1, after: 0 });
  });
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Appends a usage event and then spoils its row, as no translator would write it. */
async function appendSpoilt(thread: TestThread): Promise<number> {
  const translate = stateless(() => [{ body: { kind: 'usage.updated', costUsd: 1 } }]);
  return await inTransaction(world.pool, async (client) => {
    const frames = [{ type: 'usage' }];
    const head = await appendFrames(client, thread.runId, frames, { provider: 'test', translate });
    const { rowCount } = await client.query(
      `update delivery set body = replace(body::text, '"costUsd":1', '"costUsd":-1,"note":"${CANARY}"')
        where thread_id = $1 and delivery_seq = $2`,
      [thread.threadId, head],
    );
    expect(rowCount).toBe(1);
    return head;
  });
}

test.each(['lifecycle', 'custom', 'ag-ui', 'ag-ui-legacy'])(
  'a row that breaks lifecycle v1 ends the stream %s by a safe error, live and on replay alike, and is logged once',
  async (encoding) => {
    const thread = await createThread(world.pool);
    await appendText(world.pool, thread, 'm', 'Hello');
    const live = await fetch(`${url}/${thread.runId}/${encoding}`);
    const deliverySeq = await appendSpoilt(thread);
    await appendText(world.pool, thread, 'm', 'behind');
    const text = await live.text();
    const correlationId = correlationIdOf(thread.runId, deliverySeq);
    expect(text).toContain('Hello');
    expect(text).toContain(correlationId);
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain('behind');
    expect(await (await fetch(`${url}/${thread.runId}/${encoding}`)).text()).toBe(text);
    const lines = world.gateway.logged.filter((line) => line['correlationId'] === correlationId);
    expect(lines).toMatchObject([{ runId: thread.runId, deliverySeq, rule: null, type: 'usage.updated' }]);
    expect(JSON.stringify(world.gateway.logged)).not.toContain(CANARY);
  },
);

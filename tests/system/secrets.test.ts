import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { historyOf, jsonWithBytesAsText } from '../fixtures/histories.ts';
import { startModelServer, type ModelServer } from '../fixtures/model-server.ts';
import { Rest } from '../fixtures/rest.ts';

const KEY = 'sk-canary-key';
const PROMPT = 'canary-prompt-7f3a';
let model: ModelServer;
let stack: Stack;

beforeAll(async () => {
  model = await startModelServer();
  stack = await startStack({ env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'scripted' } });
});
afterAll(async () => {
  await stack?.stop();
  await model?.stop();
});

it('no prompt, argument, result or key is in Temporal, and no key anywhere that is stored, streamed or logged', async () => {
  const rest = new Rest(stack.url);
  const ran = [];
  for (const prompt of ['ANSWER', 'WRITE', 'ERR401']) {
    const run = await rest.startRun(`${prompt} ${PROMPT}`);
    if (prompt === 'WRITE') {
      const [interrupt] = await rest.interruptOf(run.run_id);
      await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'reject', message: PROMPT });
    }
    ran.push(await rest.settled(run.run_id));
  }
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection, namespace: stack.namespace });
  let told = '';
  for (const { run_id: runId } of ran) {
    const handle = temporal.workflow.getHandle(runId);
    told += (await historyOf(stack, runId)).text;
    told += jsonWithBytesAsText(await handle.describe());
  }
  await connection.close();
  // what is in payloads is read too
  for (const known of ['callModel', 'settleRun', 'agent run · builtin']) expect(told).toContain(known);
  for (const canary of [KEY, PROMPT, 'from the model', 'note.txt', 'The answer is 42'])
    expect(told).not.toContain(canary);

  const { rows: tables } = await stack.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  let stored = '';
  for (const { name } of tables) {
    const { rows } = await stack.pool.query<{ row: string }>(`select t::text as row from "${name}" t`);
    stored += rows.map(({ row }) => row).join('\n');
  }
  expect(stored).toContain(PROMPT);
  expect(stored).not.toContain(KEY);
  for (const { thread_id: threadId } of ran) expect(JSON.stringify(await rest.deliveries(threadId))).not.toContain(KEY);
  const logs = stack.logs();
  expect(logs).toContain('run settled');
  expect(logs).not.toContain(KEY);
  expect(logs).not.toContain(PROMPT);
});

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { startRecordingProxy, type RecordingProxy } from '../fixtures/recording-proxy.ts';
import { Rest, textOf } from '../fixtures/rest.ts';

const KEY = 'sk-canary-key';
const mock = new LLMock({ port: 0 });
let stack: Stack;
let rest: Rest;
let proxy: RecordingProxy;
let keyFile: string;

beforeAll(async () => {
  mock.onToolResult('call_write', { content: 'The note is written.', reasoning: 'It is there.' });
  mock.onMessage('again', { content: 'You asked for a note.' });
  mock.onMessage('note', {
    reasoning: 'A note is a file.',
    reasoningSignature: 'sealed-by-the-vendor',
    toolCalls: [{ id: 'call_write', name: 'write_file', arguments: '{"path":"note.txt","content":"from the model"}' }],
  });
  await mock.start();
  proxy = await startRecordingProxy(mock.url);
  keyFile = join(inject('scratch'), 'provider-keys', 'anthropic');
  await mkdir(dirname(keyFile), { recursive: true });
  await writeFile(keyFile, 'sk-first-key');
  stack = await startStack({
    env: {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `${proxy.url}/v1`,
      OPENAI_API: 'responses',
      ANTHROPIC_API_KEY_FILE: keyFile,
      ANTHROPIC_BASE_URL: proxy.url,
      ANTHROPIC_THINKING: '2000',
      OPENAI_CODEX_API_KEY: KEY,
      OPENAI_CODEX_BASE_URL: `${proxy.url}/v1`,
    },
  });
  rest = new Rest(stack.url);
});
afterAll(async () => {
  await stack?.stop();
  await proxy?.stop();
  await mock.stop();
});

describe.each([
  ['openai/gpt-5-mini', '/v1/responses', 'encrypted_content'],
  ['openai-codex/gpt-5-codex', '/v1/responses', 'encrypted_content'],
  ['anthropic/claude-sonnet-5-5', '/v1/messages', 'sealed-by-the-vendor'],
])('a run of %s', (model, path, seal) => {
  it('thinks, waits for a person, writes the file, and its next turn goes on from what was said', async () => {
    proxy.recorded.length = 0;
    const run = await rest.startRun('write a note', { model });
    const [interrupt] = await rest.interruptOf(run.run_id);
    expect(interrupt?.tool_name).toBe('write_file');
    await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    const written = await readFile(join(stack.home, 'workspaces', run.thread_id, 'note.txt'), 'utf8');
    expect(written).toBe('from the model');

    const events = await rest.events(run);
    expect(textOf(events)).toBe('The note is written.');
    const reasoning = events.flatMap(({ kind, text }) => (kind === 'reasoning.delta' ? [String(text)] : [])).join('');
    expect(reasoning).toBe('A note is a file.It is there.');
    expect(JSON.stringify(events)).not.toContain(seal);

    const next = await rest.startRun('say it again', { model }, run.thread_id);
    expect((await rest.settled(next.run_id)).status).toBe('completed');
    expect(textOf(await rest.events(next))).toBe('You asked for a note.');
    expect(proxy.recorded.map((request) => [request.path, request.status])).toEqual([
      [path, 200],
      [path, 200],
      [path, 200],
    ]);
    // the reasoning goes back sealed: with the tool's result, and in the next turn
    const [first, ...later] = proxy.recorded.map(({ body }) => withoutWishes(body));
    expect(first).not.toContain(seal);
    for (const body of later) expect(body).toContain(seal);
  });
});

it('the reasoning of a message is stored with its seal, which only its provider gets back', async () => {
  const { rows } = await stack.pool.query<{ body: string }>(
    `select body from message where role = 'assistant' and body like '%sealed-by-the-vendor%'`,
  );
  expect(rows.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    expect.objectContaining({ provider: 'anthropic', api: 'anthropic-messages', stopReason: 'tool-use' }),
  ]);
});

it('a key is replaced while the worker runs, and the next call has the new one', async () => {
  const keyOfRun = async (): Promise<string | undefined> => {
    const run = await rest.startRun('say it again', { model: 'anthropic/claude-sonnet-5-5' });
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    return proxy.recorded.at(-1)?.headers.authorization;
  };
  expect(await keyOfRun()).toBe('Bearer sk-first-key');
  await writeFile(`${keyFile}.next`, 'sk-second-key');
  await rename(`${keyFile}.next`, keyFile);
  expect(await keyOfRun()).toBe('Bearer sk-second-key');
  expect(stack.logs()).not.toMatch(/sk-(first|second|canary)-key/);
});

it('the models of every configured provider are offered, and others are not', async () => {
  const { status, body } = await rest.send('POST', '/v1/runs', { input: 'x', model: 'vendor/model' });
  expect(status).toBe(422);
  expect(body['models']).toEqual(expect.arrayContaining(['openai/*', 'anthropic/*', 'openai-codex/*']));
});

/** A request's messages, without the options, which name what may come back. */
function withoutWishes(body: string): string {
  const { input, messages } = JSON.parse(body) as { input?: unknown; messages?: unknown };
  return JSON.stringify(input ?? messages);
}

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { Rest, type Problem } from '../fixtures/rest.ts';

let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  stack = await startStack({ workers: 0 });
  rest = new Rest(stack.url);
});
afterAll(async () => {
  await stack?.stop();
});

async function rows(): Promise<number> {
  const { rows: counted } = await stack.pool.query<{ n: number }>(
    'select (select count(*) from run) + (select count(*) from thread) + (select count(*) from command) as n',
  );
  return counted[0]?.n ?? 0;
}

describe('a bad request', () => {
  const post = (body: unknown) => ['POST', '/v1/runs', body] as const;
  it.each<[string, readonly [string, string, unknown?], number, string, string?]>([
    ['broken JSON', post('{"input": '), 400, 'invalid_json'],
    ['JSON that is no object', post('[1]'), 400, 'invalid_request'],
    ['no body', ['POST', '/v1/runs'], 400, 'invalid_request', 'input'],
    ['an unknown field', post({ input: 'x', inputs: 'y' }), 400, 'invalid_request', 'inputs'],
    ['a wrong type', post({ input: 7 }), 400, 'invalid_request', 'input'],
    ['an empty input', post({ input: '' }), 400, 'invalid_request', 'input'],
    ['an input over 1 MiB', post({ input: 'é'.repeat(600_000) }), 413, 'payload_too_large', 'input'],
    ['a body over the limit', post({ input: 'x'.repeat(3_000_000) }), 413, 'payload_too_large'],
    ['an unknown engine', post({ input: 'x', engine: 'warp' }), 422, 'unknown_engine', 'engine'],
    ['an unknown model', post({ input: 'x', model: 'scripted/none' }), 422, 'unknown_model', 'model'],
    ['a model without its key', post({ input: 'x', model: 'openai/gpt-5' }), 422, 'unknown_model', 'model'],
    ['a NUL in the metadata', post({ input: 'x', metadata: { a: '\u0000' } }), 400, 'invalid_request', 'metadata'],
    ['an unknown thread', ['POST', '/v1/threads/thr_none/runs', { input: 'x' }], 404, 'thread_not_found'],
    ['an unknown run', ['GET', '/v1/runs/run_none'], 404, 'run_not_found'],
    ['an unknown interrupt', ['GET', '/v1/interrupts/int_none'], 404, 'interrupt_not_found'],
    ['an unknown route', ['GET', '/v1/nothing'], 404, 'not_found'],
    ['an unknown query parameter', ['GET', '/v1/runs/run_none?waits=1'], 400, 'invalid_request', 'waits'],
    ['a query parameter given twice', ['GET', '/v1/runs/run_none?wait=1&wait=2'], 400, 'invalid_request', 'wait'],
    ['a bad list cursor', ['GET', '/v1/interrupts?limit=0'], 400, 'invalid_request', 'limit'],
  ])(
    'with %s gets a problem that says what to do, and stores nothing',
    async (_what, [method, path, body], status, code, field) => {
      const before = await rows();
      const answer = await rest.send<Problem>(method, path, body);
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(answer).toMatchObject({ status, body: { status, code, ...(field === undefined ? {} : { field }) } });
      expect(answer.body.remedy.length).toBeGreaterThan(3);
      expect(await rows()).toBe(before);
    },
  );

  it('of another content type is refused, not read as empty', async () => {
    const answer = await rest.send('POST', '/v1/runs', '{"input":"x"}', { 'content-type': 'text/plain' });
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  it('under another site’s name is refused while no keys are set', async () => {
    const { port } = new URL(stack.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write('GET /v1/engines HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
      });
      let text = '';
      socket.on('data', (data) => (text += data.toString()));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toContain('403 Forbidden');
    expect(answer).toContain('host_not_allowed');
  });

  it('keeps what an input may hold: NUL, lone surrogates and every script', async () => {
    const input = 'a\u0000b \ud83d c 你好 👨‍👩‍👧 \u2028 end';
    const run = await rest.startRun(input);
    expect(await rest.send<{ input: string }>('GET', `/v1/runs/${run.run_id}`)).toMatchObject({ body: { input } });
  });
});

describe('with API keys', () => {
  let database: TestDatabase;
  let locked: Stack;
  beforeAll(async () => {
    database = await createTestDatabase();
    locked = await startStack({ workers: 0, env: { TIDEMARK_API_KEYS: 'first-key,second-key' } });
  });
  afterAll(async () => {
    await locked?.stop();
    await database?.drop();
  });

  it('every route but health needs one of them', async () => {
    const open = new Rest(locked.url);
    for (const path of ['/livez', '/readyz']) expect((await open.send('GET', path)).status).toBe(200);
    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Basic first-key', 'Bearer first-key,second-key']) {
      const answer = await open.send('GET', '/v1/engines', undefined, authorization === '' ? {} : { authorization });
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    }
    for (const path of ['/v1/runs', '/v1/interrupts/x/resolve', '/v1/runs/x/cancel']) {
      expect((await open.send('POST', path, {})).status).toBe(401);
    }
    expect((await open.send('GET', '/v1/threads/x/events')).status).toBe(401);
    const keyed = new Rest(locked.url, { authorization: 'Bearer second-key' });
    expect((await keyed.send('GET', '/v1/engines')).status).toBe(200);
  });
});

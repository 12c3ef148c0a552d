import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenAICompletions } from './openai-completions.ts';
import {
  API_KEY,
  call,
  chunk,
  data,
  DONE,
  HELLO,
  startWireServer,
  stream,
  types,
  type Answer,
  type WireServer,
} from './testing/wire-server.ts';
import { fixedKey } from './testing/fixed-key.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(async () => await server.close());

function refusal(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

const said = (message: string) => JSON.stringify({ error: { message, type: 'x', code: null } });

describe('an HTTP error', () => {
  it.each([
    [401, 'provider_auth', false],
    [403, 'provider_auth', false],
    [400, 'provider_rejected', false],
    [404, 'provider_rejected', false],
    [422, 'provider_rejected', false],
    [408, 'provider_unavailable', true],
    [409, 'provider_unavailable', true],
    [429, 'provider_rate_limited', true],
    [500, 'provider_unavailable', true],
    [503, 'provider_unavailable', true],
    [529, 'provider_unavailable', true],
  ])('%i is %s', async (status, code, retryable) => {
    server.answer = refusal(status, said('no luck'));
    const before = server.received.length;
    const { message, events } = await call(server);
    expect(message).toMatchObject({ stopReason: 'error', content: [], error: { code, retryable } });
    expect(message.errorMessage).toBe(`the provider answered ${String(status)}: no luck`);
    expect(events).toEqual([{ type: 'start' }, { type: 'error', error: message.errorMessage, message }]);
    expect(server.received.length - before).toBe(1);
  });

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1_500],
    [{ 'retry-after': new Date(Date.now() - 60_000).toUTCString() }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{}, undefined],
  ] as [Record<string, string>, number | undefined][])(
    '429 with %j is to be retried after %s ms',
    async (headers, retryAfterMs) => {
      server.answer = refusal(429, said('slow down'), headers);
      expect((await call(server)).message.error).toEqual({
        code: 'provider_rate_limited',
        retryable: true,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    },
  );

  it.each([
    [400, { message: 'no luck', code: 'context_length_exceeded' }],
    [400, { message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens." }],
    [400, { message: 'prompt is too long: 213462 tokens > 200000 maximum', type: 'invalid_request_error' }],
    [400, { message: 'input length and `max_tokens` exceed context limit: 198000 + 16384 > 200000' }],
    [400, { message: 'Your input exceeds the context window of this model.' }],
    [400, { message: 'the request exceeds the available context size', type: 'exceed_context_size_error' }],
    [400, { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' }],
    [413, { message: 'Request exceeds the maximum size', type: 'request_too_large' }],
  ])('%i with %j is a prompt over the context', async (status, error) => {
    server.answer = refusal(status, JSON.stringify({ error }));
    expect((await call(server)).message.error).toEqual({ code: 'context_length_exceeded', retryable: false });
  });

  it('is of another kind where only its words are of contexts', async () => {
    server.answer = refusal(500, said('the context window service is down'));
    expect((await call(server)).message.error).toMatchObject({ code: 'provider_unavailable', retryable: true });
  });

  it('is not retried when the account has no money left', async () => {
    server.answer = refusal(429, JSON.stringify({ error: { message: 'no quota', code: 'insufficient_quota' } }));
    expect((await call(server)).message.error).toMatchObject({ code: 'provider_rate_limited', retryable: false });
  });

  it.each([
    [{ error: 'model not found' }, ': model not found'],
    [{ object: 'error', message: 'no such model', code: 404 }, ': no such model'],
    [{ detail: 'Not Found' }, ': Not Found'],
    [{ detail: [{ loc: ['body', 'tools', 0], msg: 'bad tool', input: 'secret' }] }, ': body.tools.0: bad tool'],
    [{ error: { message: { detail: [{ loc: ['body'], msg: 'bad' }] } } }, ': body: bad'],
    [{ error: { message: 7 }, trace: 'secret' }, ''],
    [[{ trace: 'secret' }], ''],
    [{ trace: 'secret' }, ''],
  ])('with the body %j says what is meant for people', async (body, said404) => {
    server.answer = refusal(404, JSON.stringify(body));
    expect((await call(server)).message.errorMessage).toBe(`the provider answered 404${said404}`);
  });

  it('never shows the key, a raw body or a control character, and is short', async () => {
    server.answer = refusal(
      401,
      said(`Bad key ${API_KEY}\r\n\u001b[31m or sk-proj-abcdefgh12 or ab***yz ${'x'.repeat(2_000)}`),
    );
    const text = (await call(server)).message.errorMessage ?? '';
    expect(text).toMatch(/^the provider answered 401: Bad key \[secret\] \[31m or \[secret\] or \[secret\] x+…$/);
    expect(text.length).toBeLessThanOrEqual(500);
    server.answer = refusal(502, '<html>secret internals</html>', { 'content-type': 'text/html' });
    expect((await call(server)).message.errorMessage).toBe('the provider answered 502');
  });
});

describe('a connection', () => {
  it('that is refused is provider_unavailable', async () => {
    const gone = await startWireServer();
    await gone.close();
    const { message } = await call(gone);
    expect(message).toMatchObject({
      stopReason: 'error',
      errorMessage: 'the provider could not be reached (ECONNREFUSED)',
      error: { code: 'provider_unavailable', retryable: true },
    });
  });

  it('to a host that does not exist, or to no URL at all, is an error and no exception', async () => {
    for (const baseUrl of ['http://tidemark.invalid/v1', 'not a url']) {
      const provider = createOpenAICompletions({ name: 'openai', auth: fixedKey(API_KEY), baseUrl });
      const options = { signal: new AbortController().signal, stallMs: 5_000, toolCallId: String };
      const retryable = baseUrl.startsWith('http');
      expect(await provider.complete('m', HELLO, options)).toMatchObject({
        error: { code: 'provider_unavailable', retryable },
      });
    }
  });
});

describe('a stream', () => {
  const BEGUN = [chunk({ content: 'so far' })];

  it.each<[string, Answer]>([
    ['that ends without a finish reason', stream(BEGUN)],
    ['with malformed JSON', stream([...BEGUN, 'data: {"choices": [{\n\n', DONE])],
    ['with a chunk that is no object', stream([...BEGUN, 'data: 5\n\n', DONE])],
    ['that is empty', stream([])],
    ['of another kind', stream(['<html>hello</html>'])],
    [
      'whose socket is reset',
      async (response, request) => {
        await stream(BEGUN, { cut: true })(response, request);
        await sleep(30);
        response.socket?.resetAndDestroy();
      },
    ],
  ])('%s is provider_stream_broken', async (_title, answer) => {
    server.answer = answer;
    const { message, events } = await call(server);
    expect(message).toMatchObject({ stopReason: 'error', error: { code: 'provider_stream_broken', retryable: true } });
    expect(events.at(-1)).toEqual({ type: 'error', error: message.errorMessage, message });
    expect(types(events)).not.toContain('text-end');
  });

  it('keeps the text so far and leaves out a tool call that may be cut short', async () => {
    const half = { index: 0, id: 'a', function: { name: 'weather', arguments: '{}' } };
    server.answer = stream([...BEGUN, chunk({ tool_calls: [half] })]);
    expect((await call(server)).message.content).toEqual([{ type: 'text', text: 'so far' }]);
  });

  it.each([
    [{ message: 'overloaded', type: 'server_error' }, 'provider_unavailable', true],
    [{ message: 'slow down', type: 'rate_limit_exceeded' }, 'provider_rate_limited', true],
    [{ message: 'upstream', code: 502 }, 'provider_unavailable', true],
    [{ message: 'bad', code: 400 }, 'provider_rejected', false],
    [{ message: 'too long', code: 'context_length_exceeded' }, 'context_length_exceeded', false],
  ])('with the error object %j is %s', async (error, code, retryable) => {
    for (const wire of [data({ error }), `event: error\n${data(error)}`]) {
      server.answer = stream([...BEGUN, wire, DONE]);
      const { message } = await call(server);
      expect(message).toMatchObject({ stopReason: 'error', error: { code, retryable } });
      expect(message.errorMessage).toContain(error.message);
      expect(message.content).toEqual([{ type: 'text', text: 'so far' }]);
    }
  });

  it.each([
    ['content_filter', 'provider_rejected', false],
    ['network_error', 'provider_unavailable', true],
    ['whatever', 'provider_rejected', false],
  ])('that the provider stops for %s is %s', async (reason, code, retryable) => {
    server.answer = stream([...BEGUN, chunk({}, reason), DONE]);
    const { message, events } = await call(server);
    expect(message).toMatchObject({ stopReason: 'error', error: { code, retryable }, content: [{ text: 'so far' }] });
    expect(types(events)).toContain('text-end');
  });

  it('that goes silent is provider_stalled and its socket is closed', async () => {
    server.answer = stream(BEGUN, { cut: true });
    const { message } = await call(server, { stallMs: 150 });
    expect(message).toMatchObject({
      stopReason: 'error',
      error: { code: 'provider_stalled', retryable: true },
      content: [{ text: 'so far' }],
    });
    await expect.poll(() => server.isClosed()).toBe(true);
  });

  it('that never begins is provider_stalled', async () => {
    server.answer = () => undefined;
    expect((await call(server, { stallMs: 150 })).message.error).toEqual({ code: 'provider_stalled', retryable: true });
  });

  it('that only says keep-alive is not silent', async () => {
    server.answer = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let n = 0; n < 8; n++) {
        response.write(': keep-alive\n\n');
        await sleep(60);
      }
      response.end(chunk({ content: 'at last' }, 'stop') + DONE);
    };
    expect((await call(server, { stallMs: 250 })).message).toMatchObject({ stopReason: 'stop' });
  });
});

describe('stopping a call', () => {
  it('in mid-stream closes the socket and gives the text so far', async () => {
    server.answer = stream([chunk({ content: 'so far' })], { cut: true });
    const stop = new AbortController();
    const provider = createOpenAICompletions({ name: 'openai', auth: fixedKey(API_KEY), baseUrl: server.baseUrl });
    const options = { signal: stop.signal, stallMs: 5_000, toolCallId: String };
    const message = await provider.complete('m', HELLO, options, (event) => {
      if (event.type === 'text-delta') stop.abort();
    });
    expect(message).toMatchObject({ stopReason: 'aborted', content: [{ type: 'text', text: 'so far' }] });
    expect(message.error).toBeUndefined();
    await expect.poll(() => server.isClosed()).toBe(true);
  });

  it('before it begins, or before its answer does, works too', async () => {
    server.answer = () => undefined;
    const before = server.received.length;
    expect((await call(server, { signal: AbortSignal.abort() })).message).toMatchObject({ stopReason: 'aborted' });
    expect(server.received.length).toBe(before);
    const { message } = await call(server, { signal: AbortSignal.timeout(80) });
    expect(message).toMatchObject({ stopReason: 'aborted', content: [] });
    await expect.poll(() => server.isClosed()).toBe(true);
  });
});

describe('whoever listens', () => {
  it('may be slower than the provider may be silent', async () => {
    server.answer = stream([chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop'), DONE]);
    const provider = createOpenAICompletions({ name: 'openai', auth: fixedKey(API_KEY), baseUrl: server.baseUrl });
    const options = { signal: new AbortController().signal, stallMs: 100, toolCallId: String };
    const message = await provider.complete('m', HELLO, options, async () => await sleep(150));
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'ab' }] });
  });

  it('ends the call by throwing, and gets back what it threw', async () => {
    server.answer = stream([chunk({ content: 'a' })], { cut: true });
    const provider = createOpenAICompletions({ name: 'openai', auth: fixedKey(API_KEY), baseUrl: server.baseUrl });
    const options = { signal: new AbortController().signal, stallMs: 5_000, toolCallId: String };
    const fenced = new Error('lane is fenced');
    const refuse = (event: { type: string }) => {
      if (event.type === 'text-delta') throw fenced;
    };
    await expect(provider.complete('m', HELLO, options, refuse)).rejects.toBe(fenced);
    await expect.poll(() => server.isClosed()).toBe(true);
  });
});

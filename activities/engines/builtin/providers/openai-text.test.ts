import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  API_KEY,
  call,
  chunk,
  data,
  DONE,
  joined,
  startWireServer,
  stream,
  types,
  type WireServer,
} from './testing/wire-server.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(async () => await server.close());

const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 5,
  total_tokens: 25,
  prompt_tokens_details: { cached_tokens: 8 },
};

describe('an answer of text', () => {
  it('is streamed block by block and counted', async () => {
    server.answer = stream([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
      data({ choices: [], usage: USAGE }),
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message).toMatchObject({
      role: 'assistant',
      api: 'openai-completions',
      provider: 'openai',
      model: 'test-model',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'Hello' }],
      usage: { input: 12, output: 5, cacheRead: 8, totalTokens: 25 },
    });
    expect(types(events)).toEqual(['start', 'text-start', 'text-delta', 'text-end', 'done']);
    expect(events.at(-1)).toEqual({ type: 'done', message });
  });

  it('asks for a stream with usage, with the key, and without what is empty', async () => {
    server.answer = stream([chunk({ content: 'x' }, 'stop'), DONE]);
    await call(server);
    const { body, headers } = server.received.at(-1)!;
    expect(headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(body).toEqual({
      model: 'test-model',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('is asked for again without the usage option by a server that refuses it', async () => {
    server.answer = async (response, request) => {
      if (request.body['stream_options'] === undefined) {
        return await stream([chunk({ content: 'ok' }, 'stop'), DONE])(response, request);
      }
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] }),
      );
    };
    const { message } = await call(server);
    expect(message.content).toEqual([{ type: 'text', text: 'ok' }]);
  });

  const WORDS = 'ñ 你好世界 🌍 👩‍👩‍👧‍👦 \u0000 \u2028 \n\t"\\';
  it.each([1, 2, 3, 7])('keeps every character when the bytes come %i at a time', async (atATime) => {
    const parts = [chunk({ content: WORDS }), ': keep-alive\n\n', chunk({ content: WORDS }, 'stop'), DONE];
    server.answer = stream(parts, { atATime });
    const { message, events } = await call(server);
    expect(message.content).toEqual([{ type: 'text', text: WORDS + WORDS }]);
    expect(joined(events, 0)).toBe(WORDS + WORDS);
  });

  it('joins a surrogate pair that is cut between two deltas', async () => {
    server.answer = stream([
      String.raw`data: {"choices":[{"delta":{"content":"a\ud83c"}}]}` + '\n\n',
      String.raw`data: {"choices":[{"delta":{"content":"\udf0db"}}]}` + '\n\n',
      chunk({}, 'stop'),
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message.content).toEqual([{ type: 'text', text: 'a🌍b' }]);
    for (const event of events) if ('delta' in event) expect(event.delta.isWellFormed()).toBe(true);
  });

  it('says U+FFFD for a half pair that never gets its other half', async () => {
    server.answer = stream([
      String.raw`data: {"choices":[{"delta":{"content":"a\ud83c"}}]}` + '\n\n',
      String.raw`data: {"choices":[{"delta":{"content":"b\udf0d"}}]}` + '\n\n',
      String.raw`data: {"choices":[{"delta":{"content":"c\ud83c"},"finish_reason":"stop"}]}` + '\n\n',
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message.content).toEqual([{ type: 'text', text: 'a\uFFFDb\uFFFDc\uFFFD' }]);
    expect(joined(events, 0)).toBe('a\uFFFDb\uFFFDc\uFFFD');
  });

  it('says nothing for empty deltas and keeps white space', async () => {
    server.answer = stream([
      chunk({ content: '' }),
      chunk({ content: '  ' }),
      chunk({ content: '' }),
      chunk({ content: '\n' }),
      chunk({ content: '' }, 'stop'),
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message.content).toEqual([{ type: 'text', text: '  \n' }]);
    expect(events.filter((event) => 'delta' in event)).toHaveLength(2);
  });

  it('may have no text at all', async () => {
    server.answer = stream([chunk({ role: 'assistant', content: '' }), chunk({}, 'stop'), DONE]);
    const { message, events } = await call(server);
    expect(message).toMatchObject({ stopReason: 'stop', content: [] });
    expect(types(events)).toEqual(['start', 'done']);
  });

  it('reads null as absent', async () => {
    const nulls = { content: null, role: null, tool_calls: null, function_call: null, refusal: null, reasoning: null };
    server.answer = stream([
      data({ choices: null, usage: null }),
      data({ choices: [null] }),
      data({ choices: [{ index: null, delta: null, finish_reason: null }], usage: null }),
      chunk(nulls),
      chunk({ ...nulls, content: 'hi' }),
      data({ choices: [{ delta: nulls, finish_reason: 'stop' }], usage: null }),
      DONE,
    ]);
    const { message } = await call(server);
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'hi' }] });
    expect(message.usage).toBeUndefined();
  });

  it('shows a refusal as what the model said', async () => {
    server.answer = stream([chunk({ refusal: 'I cannot ' }), chunk({ refusal: 'do that.' }, 'stop'), DONE]);
    const { message } = await call(server);
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'I cannot do that.' }] });
  });

  it.each([
    ['length', 'length'],
    ['end', 'stop'],
  ])('maps the finish reason %s to %s', async (finish, stopReason) => {
    server.answer = stream([chunk({ content: 'part' }, finish), DONE]);
    expect((await call(server)).message).toMatchObject({ stopReason, content: [{ type: 'text', text: 'part' }] });
  });

  it.each(['reasoning_content', 'reasoning'])('streams %s as a thinking block before the text', async (field) => {
    server.answer = stream([
      chunk({ [field]: 'Let me ', content: '' }),
      chunk({ [field]: 'see.' }),
      chunk({ content: '42' }),
      chunk({}, 'stop'),
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'Let me see.', thinkingSignature: field },
      { type: 'text', text: '42' },
    ]);
    expect(types(events)).toEqual([
      'start',
      'thinking-start',
      'thinking-delta',
      'thinking-end',
      'text-start',
      'text-delta',
      'text-end',
      'done',
    ]);
  });

  it('is taken as ended by [DONE] where the server gives no finish reason', async () => {
    server.answer = stream([chunk({ content: 'old server' }), DONE]);
    expect((await call(server)).message).toMatchObject({ stopReason: 'stop' });
  });

  it('is taken as ended by its finish reason where the server says no [DONE] and keeps the line open', async () => {
    server.answer = stream([chunk({ content: 'x' }, 'stop')], { cut: true });
    const { message } = await call(server, { stallMs: 200 });
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'x' }] });
  });

  it('may come whole, from a server that knows no streams', async () => {
    server.answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const answer = { role: 'assistant', content: 'whole', tool_calls: null };
      response.end(JSON.stringify({ choices: [{ index: 0, message: answer, finish_reason: 'stop' }], usage: USAGE }));
    };
    const { message, events } = await call(server);
    expect(message).toMatchObject({
      stopReason: 'stop',
      content: [{ type: 'text', text: 'whole' }],
      usage: { output: 5 },
    });
    expect(types(events)).toEqual(['start', 'text-start', 'text-delta', 'text-end', 'done']);
  });
});

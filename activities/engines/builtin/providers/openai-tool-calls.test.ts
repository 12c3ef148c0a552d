import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AssistantMessage, ToolCall } from '../../../../contract/agent-messages.ts';
import { call, chunk, DONE, joined, startWireServer, stream, types, type WireServer } from './testing/wire-server.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(async () => await server.close());

/** The calls of the answer that these `tool_calls` deltas make, one delta a chunk. */
async function callsOf(...deltas: readonly (readonly object[])[]): Promise<readonly ToolCall[]> {
  server.answer = stream([...deltas.map((calls) => chunk({ tool_calls: calls })), chunk({}, 'tool_calls'), DONE]);
  return toolCalls((await call(server)).message);
}

function toolCalls(message: AssistantMessage): readonly ToolCall[] {
  return message.content.filter((block) => block.type === 'tool-call');
}

const piece = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id, type: 'function' }),
  function: { ...(name === undefined ? {} : { name }), arguments: args },
});

const LONDON = { type: 'tool-call', id: 'tc_0', name: 'weather', arguments: { city: 'London' } };
const PARIS = { type: 'tool-call', id: 'tc_1', name: 'weather', arguments: { city: 'Paris' } };

describe('parallel tool calls', () => {
  it('that are interleaved by index are never mixed up', async () => {
    server.answer = stream([
      chunk({ content: 'Both.' }),
      chunk({ tool_calls: [piece(0, 'call_a', 'weather', '')] }),
      chunk({ tool_calls: [piece(1, 'call_b', 'weather', '')] }),
      chunk({ tool_calls: [piece(0, undefined, undefined, '{"city":')] }),
      chunk({ tool_calls: [piece(1, undefined, undefined, '{"city":"Pa'), piece(0, undefined, undefined, '"Lon')] }),
      chunk({ tool_calls: [piece(0, undefined, undefined, 'don"}')] }),
      chunk({ tool_calls: [piece(1, undefined, undefined, 'ris"}')] }),
      chunk({}, 'tool_calls'),
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message.stopReason).toBe('tool-use');
    expect(message.content).toEqual([
      { type: 'text', text: 'Both.' },
      { ...LONDON, nativeId: 'call_a' },
      { ...PARIS, nativeId: 'call_b' },
    ]);
    expect(joined(events, 1)).toBe('{"city":"London"}');
    expect(joined(events, 2)).toBe('{"city":"Paris"}');
    const ends = events.filter((event) => event.type === 'tool-call-end');
    expect(ends.map((event) => [event.contentIndex, event.toolCall])).toEqual([
      [1, message.content[1]],
      [2, message.content[2]],
    ]);
    expect(types(events).slice(0, 5)).toEqual(['start', 'text-start', 'text-delta', 'text-end', 'tool-call-start']);
  });

  it('are kept apart where every call has index 0', async () => {
    expect(
      await callsOf([piece(0, 'a', 'weather', '{"city":"London"}')], [piece(0, 'b', 'weather', '{"city":"Paris"}')]),
    ).toMatchObject([LONDON, PARIS]);
  });

  it('are kept apart where every call has index 0 and they are interleaved by id', async () => {
    expect(
      await callsOf(
        [piece(0, 'a', 'weather', '{"city":')],
        [piece(0, 'b', 'weather', '{"city":')],
        [piece(0, 'a', undefined, '"London"}')],
        [piece(0, 'b', undefined, '"Par')],
        [piece(0, undefined, undefined, 'is"}')],
      ),
    ).toMatchObject([LONDON, PARIS]);
  });

  it('are kept apart by index where every call has the same id', async () => {
    expect(
      await callsOf(
        [piece(0, 'x', 'weather', '{"city":'), piece(1, 'x', 'weather', '{"city":')],
        [piece(1, 'x', undefined, '"Paris"}'), piece(0, 'x', undefined, '"London"}')],
      ),
    ).toMatchObject([LONDON, PARIS]);
  });

  it('are kept apart by id alone', async () => {
    expect(
      await callsOf(
        [piece(undefined, 'a', 'weather', '{"city":'), piece(undefined, 'b', 'weather', '{"city":')],
        [piece(undefined, 'a', undefined, '"London"}')],
        [piece(undefined, 'b', undefined, '"Paris"}')],
      ),
    ).toMatchObject([LONDON, PARIS]);
  });

  it('are kept apart with neither index nor id', async () => {
    const [london, paris] = [{ city: 'London' }, { city: 'Paris' }];
    expect(
      await callsOf([piece(undefined, undefined, 'weather', london), piece(undefined, undefined, 'weather', paris)]),
    ).toMatchObject([LONDON, PARIS]);
    expect(await callsOf([piece(undefined, undefined, 'a', ''), piece(undefined, undefined, 'b', '')])).toMatchObject([
      { name: 'a', arguments: {} },
      { name: 'b', arguments: {} },
    ]);
  });

  it('go on by index where the id is said once, null or empty', async () => {
    const rest = { index: 0, id: null, type: null, function: { name: null, arguments: '"London"}' } };
    expect(await callsOf([piece(0, 'a', 'weather', '{"city":')], [rest])).toMatchObject([LONDON]);
    expect(await callsOf([piece(0, '', 'weather', '{"city":')], [piece(0, '', '', '"London"}')])).toMatchObject([
      LONDON,
    ]);
  });

  it('stay one call where each delta has a new id or repeats the name', async () => {
    expect(
      await callsOf([piece(0, 'x1', 'weather', '{"city":')], [piece(0, 'x2', undefined, '"London"}')]),
    ).toMatchObject([LONDON]);
    expect(
      await callsOf([piece(0, 'x', 'weather', '{"city":')], [piece(0, 'x', 'weather', '"London"}')]),
    ).toMatchObject([LONDON]);
  });

  it('may follow and be followed by text', async () => {
    server.answer = stream([
      chunk({ content: 'one' }),
      chunk({ tool_calls: [piece(0, 'a', 'weather', '{"city":')] }),
      chunk({ content: 'two' }),
      chunk({ tool_calls: [piece(0, undefined, undefined, '"London"}')] }),
      chunk({}, 'tool_calls'),
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message.content).toMatchObject([{ text: 'one' }, LONDON, { text: 'two' }]);
    expect(joined(events, 1)).toBe('{"city":"London"}');
  });
});

describe('a tool call', () => {
  it('makes the stop reason tool-use, whatever the server says', async () => {
    server.answer = stream([chunk({ tool_calls: [piece(0, 'a', 'weather', '{}')] }), chunk({}, 'stop'), DONE]);
    expect((await call(server)).message.stopReason).toBe('tool-use');
    server.answer = stream([chunk({ content: 'no call' }), chunk({}, 'tool_calls'), DONE]);
    expect((await call(server)).message.stopReason).toBe('stop');
  });

  it('is left out when the answer was cut by its length', async () => {
    server.answer = stream([
      chunk({ content: 'I will' }),
      chunk({ tool_calls: [piece(0, 'a', 'weather', '{"city":"Lon')] }),
      chunk({}, 'length'),
      DONE,
    ]);
    const { message, events } = await call(server);
    expect(message).toMatchObject({ stopReason: 'length', content: [{ type: 'text', text: 'I will' }] });
    expect(types(events)).not.toContain('tool-call-end');
  });

  it('may be in the old function_call form', async () => {
    server.answer = stream([
      chunk({ function_call: { name: 'weather', arguments: '{"city":' } }),
      chunk({ function_call: { arguments: '"London"}' } }, 'function_call'),
      DONE,
    ]);
    expect(toolCalls((await call(server)).message)).toMatchObject([LONDON]);
  });

  it.each(['', ' ', '{}', 'null'])('without arguments (%j) has none', async (args) => {
    const [made] = await callsOf([piece(0, 'a', 'now', args)]);
    expect(made).toEqual({ type: 'tool-call', id: 'tc_0', name: 'now', arguments: {}, nativeId: 'a' });
  });

  it.each([
    ['{"city":"Lon', 'not valid JSON'],
    ['[1]', 'a JSON object'],
    ['"text"', 'a JSON object'],
    ['{"n":1e999}', 'out of range'],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'nested'],
  ])('with arguments that cannot be read (%s) says why', async (args, reason) => {
    const [made] = await callsOf([piece(0, 'a', 'weather', args)]);
    expect(made).toMatchObject({ arguments: {}, argumentsError: expect.stringContaining(reason) as string });
  });

  it('has only strings that can be stored, and cannot touch a prototype', async () => {
    const args = String.raw`{"city":"\ud83ca\u0000","__proto__":{"x":1}}`;
    const [made] = await callsOf([piece(0, 'a', 'weat\0her', args)]);
    expect(made?.name).toBe('weat\uFFFDher');
    expect(made?.arguments['city']).toBe('\uFFFDa\uFFFD');
    expect(made?.arguments['x']).toBeUndefined();
  });
});

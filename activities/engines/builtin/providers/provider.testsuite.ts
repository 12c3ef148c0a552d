import { describe, expect, it } from 'vitest';
import type { AssistantMessage } from '../../../../contract/agent-messages.ts';
import { ExtensionRegistry } from '../../../../contract/extensions/registry.ts';
import { CALLS, COUNTED, resultsOf, SAID_USAGE, text, thinking, useProviderRig } from './testing/provider-rig.ts';
import { API_KEY, stream, types } from './testing/wire-server.ts';
import { user, type Said, type WireScript } from './testing/wire-script.ts';

const TOOLS = [
  {
    name: 'weather',
    description: 'the weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
  { name: 'now', description: 'the time', parameters: { type: 'object', properties: {} } },
];
/** What every provider does with an answer, whatever its API: the same thing said comes out as the same message. */
export function testProvider(script: WireScript): void {
  describe(`an answer of ${script.api}`, () => {
    const rig = useProviderRig(script);

    it('is a whole provider record', () => {
      const provider = rig.provider();
      expect(new ExtensionRegistry().register('provider', provider, 'suite').name).toBe('vendor');
      expect(provider.api).toBe(script.api);
    });

    it('asks at the path of its API, with its key, model, system prompt, tools and a stream', async () => {
      await rig.ask(rig.says({ said: [text('hi')], end: 'stop' }), { systemPrompt: 'be kind', tools: TOOLS });
      const request = rig.server.received.at(-1);
      expect(request?.path).toBe(script.path);
      expect(script.keyIn(request?.headers ?? {})).toBe(API_KEY);
      expect(request?.body).toMatchObject({ model: 'model-1', stream: true });
      expect(rig.seen()).toMatchObject({
        system: 'be kind',
        tools: ['weather', 'now'],
        texts: ['hello'],
      });
    });

    it('says a text as it comes, then the message with its usage', async () => {
      const { message, events } = await rig.ask(
        rig.says({ said: [text('Hel', 'lo ', '🌍')], end: 'stop', usage: SAID_USAGE }),
      );
      expect(message).toMatchObject({
        role: 'assistant',
        api: script.api,
        provider: 'vendor',
        model: 'model-1',
        stopReason: 'stop',
        content: [{ type: 'text', text: 'Hello 🌍' }],
        usage: COUNTED,
      });
      expect(types(events)).toEqual(['start', 'text-start', 'text-delta', 'text-end', 'done']);
      expect(events.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(1);
    });

    it('keeps every character when the bytes come three at a time, with comments, pings and unknown events between', async () => {
      const parts = script.stream({ said: [text('añ', '🌍ü', '漢字')], end: 'stop' });
      const noisy = parts.flatMap((part) => [...script.noise, part]);
      const { message } = await rig.ask(stream(noisy, { atATime: 3 }));
      expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'añ🌍ü漢字' }] });
    });

    it('takes lines that end in CRLF', async () => {
      const crlf = script.stream({ said: [text('fine')], end: 'stop' }).map((part) => part.replaceAll('\n', '\r\n'));
      expect((await rig.ask(stream(crlf))).message).toMatchObject({ stopReason: 'stop', content: [{ text: 'fine' }] });
    });

    it('says reasoning, and gives its seal back with the next call', async () => {
      const first = await rig.ask(
        rig.says({ said: [thinking('seal-1', 'Let me', ' see.'), text('Yes.'), CALLS], end: 'tool-use' }),
      );
      expect(first.message.content.slice(0, 2)).toEqual([
        { type: 'thinking', thinking: 'Let me see.', thinkingSignature: script.signature('Let me see.', 'seal-1') },
        { type: 'text', text: 'Yes.' },
      ]);
      expect(types(first.events).slice(0, 4)).toEqual(['start', 'thinking-start', 'thinking-delta', 'thinking-end']);
      await rig.ask(rig.says({ said: [text('ok')], end: 'stop' }), {
        messages: [user('q'), first.message, ...resultsOf(first.message)],
      });
      const { seals } = rig.seen();
      expect(seals).toEqual([script.hidesThinking ? 'seal-1' : 'reasoning_content']);
    });

    it('gives no reasoning to a model that did not say it, and none that its answer has not followed', async () => {
      const { message } = await rig.ask(rig.says({ said: [thinking('seal-1', 'Hm.'), CALLS], end: 'tool-use' }));
      const foreign = { ...message, model: 'model-2' };
      const half: AssistantMessage = { ...message, content: message.content.slice(0, 1), stopReason: 'length' };
      for (const said of [foreign, half]) {
        await rig.ask(rig.says({ said: [text('ok')], end: 'stop' }), {
          messages: [user('q'), said, ...resultsOf(said)],
        });
        expect(rig.seen().seals).toEqual([]);
      }
    });

    it.each(script.hidesThinking ? ['sealed-away'] : [])(
      'keeps reasoning that is hidden as %j, and gives it back',
      async (seal) => {
        const { message, events } = await rig.ask(
          rig.says({ said: [{ type: 'hidden-thinking', seal }, text('Done.')], end: 'stop' }),
        );
        expect(message.content).toMatchObject([
          { type: 'thinking', thinking: '', thinkingSignature: script.signature('', seal) },
          { type: 'text', text: 'Done.' },
        ]);
        expect(types(events).slice(0, 3)).toEqual(['start', 'thinking-start', 'thinking-end']);
        await rig.ask(rig.says({ said: [text('ok')], end: 'stop' }), { messages: [user('q'), message, user('again')] });
        expect(rig.seen().seals).toEqual([seal]);
      },
    );

    it('keeps parallel calls apart, and sends each result to its own', async () => {
      const { message, events } = await rig.ask(rig.says({ said: [CALLS], end: 'tool-use', usage: SAID_USAGE }), {
        tools: TOOLS,
      });
      expect(message).toMatchObject({
        stopReason: 'tool-use',
        content: [
          { type: 'tool-call', id: 'tc_0', nativeId: 'call_a', name: 'weather', arguments: { city: 'London' } },
          { type: 'tool-call', id: 'tc_1', nativeId: 'call_b', name: 'now', arguments: {} },
        ],
        usage: COUNTED,
      });
      expect(events.filter(({ type }) => type === 'tool-call-start')).toHaveLength(2);
      expect(events.filter(({ type }) => type === 'tool-call-end')).toHaveLength(2);
      const results = resultsOf(message).toReversed();
      await rig.ask(rig.says({ said: [text('ok')], end: 'stop' }), {
        messages: [user('q'), message, ...results],
        tools: TOOLS,
      });
      expect(rig.seen().calls).toEqual({
        call_a: { input: { city: 'London' }, result: 'result of tc_0' },
        call_b: { input: {}, result: 'result of tc_1' },
      });
    });

    it('answers a call without a result, so that the thread stays usable', async () => {
      const { message } = await rig.ask(rig.says({ said: [CALLS], end: 'tool-use' }));
      await rig.ask(rig.says({ said: [text('ok')], end: 'stop' }), { messages: [user('q'), message, user('go on')] });
      const { calls, texts } = rig.seen();
      expect(Object.values(calls).map(({ result }) => result)).toEqual(
        Array.from({ length: 2 }, () => expect.stringContaining('not completed') as string),
      );
      expect(texts).toEqual(['q', 'go on']);
    });

    it('calls an end at the bound on tokens `length`, and runs no call that may be cut', async () => {
      const half: Said = { type: 'calls', calls: [{ id: 'call_a', name: 'weather', pieces: ['{"ci'] }] };
      const { message } = await rig.ask(rig.says({ said: [text('so far'), half], end: 'length', usage: SAID_USAGE }));
      expect(message).toMatchObject({ stopReason: 'length', content: [{ text: 'so far' }], usage: COUNTED });
      expect(message.content).toHaveLength(1);
    });

    it('shows a refusal in words as the text that it is', async () => {
      const { message } = await rig.ask(
        rig.says({ said: [{ type: 'refusal', pieces: ['I can', 'not.'] }], end: 'stop' }),
      );
      expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'I cannot.' }] });
    });

    it('takes an answer that came whole', async () => {
      const body = script.whole({
        said: [thinking('seal-1', 'Hm.'), text('Yes.'), CALLS],
        end: 'tool-use',
        usage: SAID_USAGE,
      });
      const { message } = await rig.ask(
        (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      );
      expect(message).toMatchObject({
        stopReason: 'tool-use',
        content: [
          { thinking: 'Hm.', thinkingSignature: script.signature('Hm.', 'seal-1') },
          { text: 'Yes.' },
          { nativeId: 'call_a', arguments: { city: 'London' } },
          { nativeId: 'call_b' },
        ],
        usage: COUNTED,
      });
      const provider = rig.provider();
      const parsed = provider.parseResponse(body, 'model-1', (n) => `tc_${String(n)}`);
      expect({ ...parsed, timestamp: 0 }).toEqual({ ...message, timestamp: 0 });
    });
  });
}

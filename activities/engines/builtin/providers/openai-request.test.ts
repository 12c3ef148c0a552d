import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message, ToolCall } from '../../../../contract/agent-messages.ts';
import { buildBody, convertMessages } from './openai-request.ts';

const ASKED = { provider: 'openai', api: 'openai-completions' };
const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const assistant = (content: AssistantMessage['content'], more: Partial<AssistantMessage> = {}): Message => ({
  role: 'assistant',
  content,
  provider: 'openai',
  stopReason: 'stop',
  timestamp: 1,
  ...more,
});
const calling = (id: string, more: Partial<ToolCall> = {}): ToolCall => ({
  type: 'tool-call',
  id,
  name: 'weather',
  arguments: { city: 'London' },
  ...more,
});
const result = (toolCallId: string, text: string, isError = false): Message => ({
  role: 'tool-result',
  toolCallId,
  toolName: 'weather',
  content: [{ type: 'text', text }],
  isError,
  timestamp: 1,
});
const text = (words: string) => ({ type: 'text' as const, text: words });
const wireCall = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"London"}' },
});

const convert = (...messages: Message[]) => convertMessages(messages, ASKED);

describe('a conversation on the wire', () => {
  it('keeps its order and joins its text blocks', () => {
    const blocks: Message = { role: 'user', content: [text('a'), text('b')], timestamp: 1 };
    expect(convert(blocks, assistant([text('c')]), user('d'))).toEqual([
      { role: 'user', content: 'ab' },
      { role: 'assistant', content: 'c' },
      { role: 'user', content: 'd' },
    ]);
  });

  it('uses the provider’s own ids for calls and results', () => {
    const messages = convert(user('q'), assistant([calling('tc', { nativeId: 'call_abc' })]), result('tc', 'rain'));
    expect(messages).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: null, tool_calls: [wireCall('call_abc')] },
      { role: 'tool', tool_call_id: 'call_abc', content: 'rain' },
    ]);
  });

  it('makes short ids where the own ones are missing, too long or taken', () => {
    const messages = convert(
      assistant([calling('1'), calling('2', { nativeId: 'x'.repeat(41) }), calling('3', { nativeId: 'same' })]),
      assistant([calling('4', { nativeId: 'same' }), calling('5', { nativeId: 'call_0' })]),
    );
    const ids = messages.flatMap((message) => ('tool_call_id' in message ? [message.tool_call_id] : []));
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(String(id).length).toBeLessThanOrEqual(40);
  });

  it('answers a call without a result with an error, so that the thread stays usable', () => {
    expect(convert(user('q'), assistant([calling('tc', { nativeId: 'a' })]), user('go on'))).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: null, tool_calls: [wireCall('a')] },
      { role: 'tool', tool_call_id: 'a', content: 'error: the tool call was not completed; its outcome is unknown' },
      { role: 'user', content: 'go on' },
    ]);
  });

  it('puts each result behind its call, and leaves out one without a call', () => {
    const calls = assistant([calling('1', { nativeId: 'a' }), calling('2', { nativeId: 'b' })]);
    expect(convert(calls, user('meanwhile'), result('2', 'two'), result('ghost', 'x'), result('1', ''))).toEqual([
      { role: 'assistant', content: null, tool_calls: [wireCall('a'), wireCall('b')] },
      { role: 'tool', tool_call_id: 'a', content: '(no output)' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      { role: 'user', content: 'meanwhile' },
    ]);
  });

  it('leaves out failed and empty assistant messages, keeps an aborted one with text', () => {
    expect(
      convert(
        assistant([text('broken')], { stopReason: 'error' }),
        assistant([], { stopReason: 'aborted' }),
        assistant([text('half')], { stopReason: 'aborted' }),
      ),
    ).toEqual([{ role: 'assistant', content: 'half' }]);
  });

  it('echoes reasoning by its own name while the turn goes on, and only to the provider that said it', () => {
    const thinking = { type: 'thinking' as const, thinking: 'hmm', thinkingSignature: 'reasoning_content' };
    const reasoned = assistant([thinking, calling('1', { nativeId: 'a' })]);
    const foreign = assistant([thinking, text('x')], { provider: 'other' });
    const [old, , , fresh] = convert(reasoned, result('1', 'r'), user('q'), reasoned);
    expect(old).not.toHaveProperty('reasoning_content');
    expect(fresh).toMatchObject({ reasoning_content: 'hmm' });
    expect(convert(foreign)).toEqual([{ role: 'assistant', content: 'x' }]);
  });

  it('sends a tool name that the endpoint would refuse as one that it takes', () => {
    const [message] = convert(assistant([calling('1', { name: '' }), calling('2', { name: 'a b/ü' })]));
    expect(message).toMatchObject({ tool_calls: [{ function: { name: 'unknown' } }, { function: { name: 'a_b__' } }] });
  });
});

describe('a request body', () => {
  const tools = [{ name: 'now', description: 'the time', parameters: { type: 'object', properties: {} } }];
  const context = { systemPrompt: 'be kind', messages: [user('q')], tools, maxTokens: 7 };

  it('has the system prompt, the tools and the bound on tokens under the name that the server knows', () => {
    expect(
      buildBody('m', context, { asked: ASKED, maxTokensField: 'max_completion_tokens', asksForUsage: false }),
    ).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'q' },
      ],
      tools: [{ type: 'function', function: tools[0] }],
      max_completion_tokens: 7,
      stream: true,
    });
  });
});

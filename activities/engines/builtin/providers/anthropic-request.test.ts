import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message, ToolCall } from '../../../../contract/agent-messages.ts';
import { buildBody, convertMessages } from './anthropic-request.ts';

const ASKED = { provider: 'anthropic', api: 'anthropic-messages', model: 'm' };
const CACHED = { cache_control: { type: 'ephemeral' } };
const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const assistant = (content: AssistantMessage['content']): Message => ({
  role: 'assistant',
  content,
  provider: 'anthropic',
  stopReason: 'stop',
  timestamp: 1,
});
const text = (words: string) => ({ type: 'text' as const, text: words });
const thought = { type: 'thinking' as const, thinking: 'hm', thinkingSignature: 'seal' };
const call = (id: string, nativeId = id): ToolCall => ({ type: 'tool-call', id, nativeId, name: 'now', arguments: {} });
const result = (toolCallId: string, isError = false): Message => ({
  role: 'tool-result',
  toolCallId,
  toolName: 'now',
  content: [text(`r-${toolCallId}`)],
  isError,
  timestamp: 1,
});

describe('a conversation on the wire', () => {
  it('takes turns: results of all calls open the next message, and what a person then says follows them', () => {
    const calling = assistant([thought, text('I look.'), call('a'), call('b')]);
    expect(convertMessages([user('q'), calling, result('b', true), result('a'), user('and?')], ASKED)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'seal' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'now', input: {} },
          { type: 'tool_use', id: 'b', name: 'now', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'r-a' },
          { type: 'tool_result', tool_use_id: 'b', content: 'r-b', is_error: true },
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });

  it('has no blank text, no id and no unsealed reasoning that the endpoint would refuse', () => {
    const unsealed = { type: 'thinking' as const, thinking: 'cut' };
    const messages = [user(' '), assistant([unsealed, text('\n'), call('tc', 'functions.now:0')]), result('tc')];
    expect(convertMessages(messages, ASKED)).toEqual([
      { role: 'user', content: [{ type: 'text', text: '(no text)' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'now', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: 'r-tc' }] },
    ]);
  });
});

describe('a request body', () => {
  const context = { messages: [user('q')], tools: [], maxTokens: 4_000 };
  const body = (more: Partial<Parameters<typeof buildBody>[1]>, thinking?: 'adaptive' | number) =>
    buildBody('m', { ...context, ...more }, { asked: ASKED, thinking });

  it('marks for the cache what the next call will share with it', () => {
    const tools = [{ name: 'now', description: 'the time', parameters: { type: 'object' } }];
    const wire = { name: 'now', description: 'the time', input_schema: { type: 'object' } };
    expect(body({ systemPrompt: 'be kind', tools })).toEqual({
      model: 'm',
      max_tokens: 4_000,
      system: [{ type: 'text', text: 'be kind', ...CACHED }],
      tools: [wire],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'q', ...CACHED }] }],
      stream: true,
    });
    expect(body({ tools })).toMatchObject({ tools: [{ ...wire, ...CACHED }] });
  });

  it('asks for thinking within the bound on tokens', () => {
    expect(body({}, 'adaptive')).toMatchObject({ thinking: { type: 'adaptive' } });
    expect(body({}, 2_000)).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2_000 } });
    expect(body({}, 9_000)).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 3_999 } });
    expect(body({ maxTokens: 500 }, 2_000)).not.toHaveProperty('thinking');
  });

  it('finishes a tool loop that began without thinking in the same way', () => {
    const begun = [user('q'), assistant([call('a')]), result('a')];
    expect(body({ messages: begun }, 2_000)).not.toHaveProperty('thinking');
    expect(body({ messages: [...begun, assistant([text('ok')]), user('next')] }, 2_000)).toHaveProperty('thinking');
    expect(body({ messages: [user('q'), assistant([thought, call('a')]), result('a')] }, 2_000)).toHaveProperty(
      'thinking',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { Message, textOf, ToolCall } from './agent-messages.ts';

describe('the built-in engine’s messages', () => {
  it('are told apart by role and refuse what the contract does not name', () => {
    const user = { role: 'user', content: 'hi', timestamp: 1 };
    expect(Message.parse(user)).toEqual(user);
    expect(Message.safeParse({ ...user, 'is-error?': true }).success).toBe(false);
    expect(Message.safeParse({ role: 'system', content: 'hi', timestamp: 1 }).success).toBe(false);
    expect(Message.safeParse({ role: 'assistant', content: 'hi', timestamp: 1 }).success).toBe(false);
    const result = {
      role: 'tool-result',
      toolCallId: 'a',
      toolName: 'b',
      content: [],
      isError: true,
      details: null,
      timestamp: 1,
    };
    expect(Message.parse(result)).toEqual(result);
  });

  it('hold tool calls with an id and an object of arguments', () => {
    const call = { type: 'tool-call', id: 'a', name: 'b', arguments: { deep: [1, null] } };
    expect(ToolCall.parse(call)).toEqual(call);
    expect(ToolCall.safeParse({ ...call, id: '' }).success).toBe(false);
    expect(ToolCall.safeParse({ ...call, arguments: '{}' }).success).toBe(false);
  });

  it('have a text: their text blocks joined', () => {
    expect(textOf('a')).toBe('a');
    expect(textOf([{ type: 'text', text: 'a' }, { type: 'thinking' }, { type: 'text', text: 'b' }])).toBe('ab');
  });
});

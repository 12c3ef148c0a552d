import * as types from './agent-messages.ts';
import { AgentTool } from './extensions/register-kinds.ts';
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

describe('a canonical type of the extension contracts', () => {
  const text = { type: 'text', text: 'hello' };
  const user = { role: 'user', content: [text], timestamp: 1 };
  const call = { type: 'tool-call', id: 'c', name: 'add', arguments: { a: 1 } };
  const thinking = { type: 'thinking', thinking: 'hm', thinkingSignature: 'sealed', redacted: true };
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10 };
  const assistant = { role: 'assistant', content: [thinking, text, call], stopReason: 'tool-use', usage, timestamp: 2 };
  const result = {
    role: 'tool-result',
    toolCallId: 'c',
    toolName: 'add',
    content: [text],
    isError: false,
    timestamp: 3,
  };
  const tool = { name: 'add', description: 'Adds', parameters: { type: 'object' } };
  const context = { messages: [user, assistant, result], tools: [tool], maxTokens: 100 };

  it.each([
    ['TextContent', types.TextContent, text, { text: 1 }],
    ['ThinkingContent', types.ThinkingContent, thinking, { thinking: 1 }],
    ['ToolCall', types.ToolCall, call, { arguments: [] }],
    ['Usage', types.Usage, usage, { input: -1 }],
    ['UserMessage', types.UserMessage, user, { content: 1 }],
    ['AssistantMessage', types.AssistantMessage, assistant, { stopReason: 'bored' }],
    ['ToolResultMessage', types.ToolResultMessage, result, { isError: 'no' }],
    ['AgentToolResult', types.AgentToolResult, { content: [text], isError: true, details: 1 }, { content: 'text' }],
    ['Message', types.Message, user, { role: 'system' }],
    ['Tool', types.Tool, tool, { parameters: 'none' }],
    ['AgentTool', AgentTool, { ...tool, execute: () => null }, { execute: 'run' }],
    ['AgentContext', types.AgentContext, context, { messages: [{ role: 'system' }] }],
  ])('%s has a schema, which takes what it is and nothing else', (_, schema, value, wrong) => {
    expect(schema.safeParse(value).success).toBe(true);
    expect(schema.safeParse({ ...value, ...wrong }).success).toBe(false);
  });

  it.each(['stop', 'length', 'tool-use', 'error', 'aborted'])('StopReason has %s', (reason) => {
    expect(types.StopReason.parse(reason)).toBe(reason);
  });
});

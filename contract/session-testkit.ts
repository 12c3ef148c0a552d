import { fc } from './property-testkit.ts';
import type { AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage } from './agent-messages.ts';
import type { SessionEntry } from './session-entry.ts';
import { writeSessionLine } from './session-jsonl.ts';

/** Conversations as tests make them up: any text, reasoning, calls with and without a result, failures, cuts. */

const timestamp = fc.integer({ min: 0, max: 4_000_000_000_000 });
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(''), fc.constant('"\\\u0000\u2028\ud800 🌍'));
const name = fc.stringMatching(/^[a-z_]{1,12}$/);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const json = fc.jsonValue({ maxDepth: 3 });

const textBlock = text.map((said) => ({ type: 'text' as const, text: said }));

const user: fc.Arbitrary<UserMessage> = fc.record({
  role: fc.constant('user' as const),
  content: fc.oneof(text, fc.array(textBlock, { maxLength: 3 })),
  timestamp,
});

const thinking = fc
  .record({
    type: fc.constant('thinking' as const),
    thinking: text,
    thinkingSignature: optional(text),
    redacted: optional(fc.boolean()),
  })
  .map(withoutUndefined);

const call = fc
  .record({
    type: fc.constant('tool-call' as const),
    id: fc.uuid(),
    name,
    arguments: fc.dictionary(name, json, { maxKeys: 3, noNullPrototype: true }),
    nativeId: optional(fc.string()),
    argumentsError: optional(text),
  })
  .map(withoutUndefined) as fc.Arbitrary<ToolCall>;

const tokens = fc.integer({ min: 0, max: 1_000_000 });
const usage = fc
  .record({
    input: optional(tokens),
    output: optional(tokens),
    cacheRead: optional(tokens),
    cacheWrite: optional(tokens),
    totalTokens: optional(tokens),
  })
  .map(withoutUndefined);

const assistant = fc
  .record({
    role: fc.constant('assistant' as const),
    content: fc.array(fc.oneof(textBlock, thinking, call), { maxLength: 4 }),
    api: optional(name),
    model: optional(name),
    provider: optional(name),
    stopReason: optional(fc.constantFrom('stop', 'length', 'tool-use', 'error', 'aborted')),
    errorMessage: optional(text),
    error: optional(fc.record({ code: name, retryable: fc.boolean() })),
    usage: optional(usage),
    timestamp,
  })
  .map(withoutUndefined) as fc.Arbitrary<AssistantMessage>;

const result = fc
  .record({ isError: fc.boolean(), content: fc.array(textBlock, { maxLength: 2 }), details: optional(json), timestamp })
  .map(withoutUndefined);

const exchange = fc.tuple(assistant, fc.array(result, { minLength: 4, maxLength: 4 }), fc.nat({ max: 4 }));

/** What follows a user's message: answers, each with the results of some of its calls, the last first. */
const turn = fc.tuple(user, fc.array(exchange, { maxLength: 3 })).map(([said, exchanges]): Message[] => [
  said,
  ...exchanges.flatMap(([answer, results, answered]): Message[] => {
    const calls = answer.content.flatMap((block) => (block.type === 'tool-call' ? [block] : []));
    const some = calls.slice(0, answered).toReversed();
    return [answer, ...some.map(({ id, name: toolName }, index) => resultOf({ id, toolName }, results[index]))];
  }),
]);

function resultOf(of: { id: string; toolName: string }, rest: object | undefined): ToolResultMessage {
  return { role: 'tool-result', toolCallId: of.id, toolName: of.toolName, ...rest } as ToolResultMessage;
}

export const conversation: fc.Arbitrary<Message[]> = fc
  .array(turn, { minLength: 1, maxLength: 4 })
  .map((turns) => turns.flat());

export function userSays(content: string, at = 1_000): UserMessage {
  return { role: 'user', content, timestamp: at };
}

export function assistantSays(
  content: AssistantMessage['content'] | string,
  more: Partial<AssistantMessage> = {},
): AssistantMessage {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return { role: 'assistant', content: blocks, stopReason: 'stop', timestamp: 2_000, ...more };
}

export function toolCall(id: string, toolName = 'list_files'): ToolCall {
  return { type: 'tool-call', id, name: toolName, arguments: { path: '.' } };
}

export function toolSays(toolCallId: string, said: string, more: Partial<ToolResultMessage> = {}): ToolResultMessage {
  const content = [{ type: 'text' as const, text: said }];
  return {
    role: 'tool-result',
    toolCallId,
    toolName: 'list_files',
    content,
    isError: false,
    timestamp: 3_000,
    ...more,
  };
}

/** Messages as the entries of a session, chained. */
export function entriesOf(messages: readonly Message[]): SessionEntry[] {
  return messages.map((message, index) => ({
    type: 'message',
    id: `e${String(index)}`,
    parentId: index === 0 ? null : `e${String(index - 1)}`,
    timestamp: new Date(message.timestamp).toISOString(),
    message,
  }));
}

/** A whole session file. */
export function fileOf(entries: readonly SessionEntry[]): string {
  const header = {
    type: 'session',
    version: 2,
    id: 's1',
    timestamp: '2026-01-01T00:00:00.000Z',
    cwd: '/work',
  } as const;
  return [header, ...entries].map(writeSessionLine).join('');
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

import { z } from 'zod';
import { JsonObject } from './json-object.ts';
import type { AssistantContent, AssistantMessage, Message, TextContent } from './agent-messages.ts';
import { StopReason } from './agent-messages.ts';

/**
 * Messages as session files spell them: the contract's own keyword names (`tool-call-id`, `is-error?`), where ours are in
 * camelCase. A file may come from a Lua program: its empty table may stand for an empty list, and its null for what is absent.
 */

/** No date of a later year can be written as ISO 8601 without a sign. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31);

const time = z.number().nonnegative().max(LAST_TIME_MS).transform(Math.trunc);
const listOf = <T extends z.ZodType>(item: T) => z.preprocess(emptyTableAsList, z.array(item));
const text = z.string().nullish();
const flag = z.boolean().nullish();
const count = z.number().nonnegative().nullish();

/** An id or a name stands in columns and in ids of events. */
const name = z
  .string()
  .max(256)
  .refine((value) => value.isWellFormed() && !/\p{Cc}/u.test(value), 'may hold no control character or lone surrogate');
const id = name.min(1);

const WireText = z.object({ type: z.literal('text'), text: z.string() });
const WireThinking = z.object({
  type: z.literal('thinking'),
  thinking: z.string(),
  'thinking-signature': text,
  'redacted?': flag,
});
const WireCall = z.object({
  type: z.literal('tool-call'),
  id,
  name,
  arguments: z.preprocess(emptyListAsTable, JsonObject.refine(isShallow, 'is nested too deep')),
  'native-id': text,
  'arguments-error': text,
});
const WireUsage = z.object({
  input: count,
  output: count,
  'cache-read': count,
  'cache-write': count,
  'total-tokens': count,
  // an addition
  'cost-usd': count,
});

/** A message as a session file holds it. Keys that it does not name, those that begin with `__` among them, are dropped. */
export const WireMessage = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.union([z.string(), listOf(WireText)]), timestamp: time }),
  z.object({
    role: z.literal('assistant'),
    content: listOf(z.discriminatedUnion('type', [WireText, WireThinking, WireCall])),
    api: text,
    model: text,
    provider: text,
    'stop-reason': StopReason.nullish(),
    'error-message': text,
    error: z
      .object({ code: z.string().min(1), retryable: z.boolean(), 'retry-after-ms': z.int().nonnegative().nullish() })
      .nullish(),
    usage: WireUsage.nullish(),
    timestamp: time,
  }),
  z.object({
    role: z.literal('tool-result'),
    'tool-call-id': id,
    'tool-name': name,
    content: listOf(WireText),
    'is-error?': z.boolean(),
    details: z.unknown().refine(isShallow, 'is nested too deep').optional(),
    timestamp: time,
  }),
]);
export type WireMessage = z.infer<typeof WireMessage>;

/** What a message of a session file is in our names. */
export function messageOfWire(wire: WireMessage): Message {
  switch (wire.role) {
    case 'user':
      return wire;
    case 'assistant':
      return {
        role: 'assistant',
        content: wire.content.map(contentOfWire),
        ...given({
          api: wire.api,
          model: wire.model,
          provider: wire.provider,
          stopReason: wire['stop-reason'],
          errorMessage: wire['error-message'],
        }),
        ...(wire.error === undefined || wire.error === null ? {} : { error: failureOfWire(wire.error) }),
        ...(wire.usage === undefined || wire.usage === null ? {} : { usage: usageOfWire(wire.usage) }),
        timestamp: wire.timestamp,
      };
    case 'tool-result':
      return {
        role: 'tool-result',
        toolCallId: wire['tool-call-id'],
        toolName: wire['tool-name'],
        content: wire.content,
        isError: wire['is-error?'],
        ...('details' in wire ? { details: wire.details } : {}),
        timestamp: wire.timestamp,
      };
  }
}

/** The same message in the names of session files. */
export function wireOfMessage(message: Message): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case 'user':
      return message;
    case 'assistant':
      return wireOfAssistant(message);
    case 'tool-result': {
      const { role, toolCallId, toolName, content, isError, timestamp, ...rest } = message;
      return {
        role,
        'tool-call-id': toolCallId,
        'tool-name': toolName,
        content,
        'is-error?': isError,
        ...rest,
        timestamp,
      };
    }
  }
}

function wireOfAssistant(message: AssistantMessage): Readonly<Record<string, unknown>> {
  const { role, content, api, model, provider, stopReason, errorMessage, error, usage, timestamp } = message;
  return {
    role,
    content: content.map(wireOfContent),
    api,
    model,
    provider,
    'stop-reason': stopReason,
    'error-message': errorMessage,
    error: error && { code: error.code, retryable: error.retryable, 'retry-after-ms': error.retryAfterMs },
    usage: usage && {
      input: usage.input,
      output: usage.output,
      'cache-read': usage.cacheRead,
      'cache-write': usage.cacheWrite,
      'total-tokens': usage.totalTokens,
      'cost-usd': usage.costUsd,
    },
    timestamp,
  };
}

function wireOfContent(block: AssistantContent): Readonly<Record<string, unknown>> {
  switch (block.type) {
    case 'text':
      return block;
    case 'thinking': {
      const { type, thinking, thinkingSignature, redacted } = block;
      return { type, thinking, 'thinking-signature': thinkingSignature, 'redacted?': redacted };
    }
    case 'tool-call': {
      const { type, nativeId, argumentsError, ...call } = block;
      return { type, ...call, 'native-id': nativeId, 'arguments-error': argumentsError };
    }
  }
}

function contentOfWire(block: TextContent | z.infer<typeof WireThinking> | z.infer<typeof WireCall>): AssistantContent {
  switch (block.type) {
    case 'text':
      return block;
    case 'thinking': {
      const { type, thinking } = block;
      return {
        type,
        thinking,
        ...given({ thinkingSignature: block['thinking-signature'], redacted: block['redacted?'] }),
      };
    }
    case 'tool-call': {
      const extra = given({ nativeId: block['native-id'], argumentsError: block['arguments-error'] });
      return { type: 'tool-call', id: block.id, name: block.name, arguments: block.arguments, ...extra };
    }
  }
}

function usageOfWire(usage: z.infer<typeof WireUsage>) {
  return given({
    input: usage.input,
    output: usage.output,
    cacheRead: usage['cache-read'],
    cacheWrite: usage['cache-write'],
    totalTokens: usage['total-tokens'],
    costUsd: usage['cost-usd'],
  });
}

function failureOfWire(error: { code: string; retryable: boolean; 'retry-after-ms'?: number | null | undefined }) {
  const { code, retryable } = error;
  return { code, retryable, ...given({ retryAfterMs: error['retry-after-ms'] }) };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> };

/** Without what is absent or null. */
function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as Given<T>;
}

/** What recursive code can walk through, however it was sent. */
export function isShallow(value: unknown, levels = 100): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

function emptyTableAsList(value: unknown): unknown {
  const isEmptyTable =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  return isEmptyTable ? [] : value;
}

function emptyListAsTable(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? {} : value;
}

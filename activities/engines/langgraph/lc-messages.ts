import { z } from 'zod';
import type { Tokens } from '../hosted/tokens.ts';

const text = z.string().catch('');
const optionalText = z.string().nullish().catch(null);
const count = z.number().nonnegative().optional().catch(undefined);

/** A message as `JSON.stringify` writes LangChain's class. */
const Constructed = z.object({ lc: z.literal(1), id: z.array(z.string()), kwargs: z.record(z.string(), z.unknown()) });

const Usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    input_token_details: z.object({ cache_read: count }).catch({}),
  })
  .nullish()
  .catch(null);

export const ToolCall = z.object({
  id: z.string().min(1),
  name: text,
  args: z.unknown().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

const Fields = z.object({
  type: text,
  role: text,
  id: optionalText,
  content: z.unknown().optional(),
  tool_calls: z.array(z.unknown()).catch([]),
  tool_call_id: text,
  name: text,
  status: text,
  usage_metadata: Usage,
  invalid_tool_calls: z.array(z.object({ name: optionalText, args: optionalText })).catch([]),
  response_metadata: z.object({ finish_reason: text, stop_reason: text }).catch({ finish_reason: '', stop_reason: '' }),
  additional_kwargs: z.object({ reasoning_content: text }).catch({ reasoning_content: '' }),
});

/** A message of the graph, whichever way it was written. */
export interface LcMessage {
  readonly kind: 'agent' | 'tool' | 'removal' | 'other';
  /** One of several pieces of the message. */
  readonly isChunk: boolean;
  readonly id: string | null;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** Tools that were called with an input that is no JSON: such a call is not carried out. */
  readonly brokenCalls: readonly string[];
  /** Why the model stopped, in the words of its provider. */
  readonly stopReason: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly content: unknown;
  readonly usage: Tokens | null;
}

/** Null for what is no message. */
export function messageOf(value: unknown): LcMessage | null {
  const constructed = Constructed.safeParse(value).data;
  const fields = Fields.safeParse(constructed?.kwargs ?? value).data;
  const className = constructed?.id.at(-1) ?? (fields?.type || fields?.role || '');
  if (fields === undefined || className === '') return null;
  const { id, content, tool_calls: calls, status, usage_metadata: usage } = fields;
  return {
    kind: kindOf(className),
    isChunk: className.endsWith('Chunk'),
    id: id ?? null,
    text: textIn(content),
    reasoning: reasoningIn(content) || fields.additional_kwargs.reasoning_content,
    toolCalls: calls.flatMap((call) => ToolCall.safeParse(call).data ?? []),
    brokenCalls: fields.invalid_tool_calls.map(({ name: called }) => called ?? 'a tool'),
    stopReason: fields.response_metadata.finish_reason || fields.response_metadata.stop_reason,
    toolCallId: fields.tool_call_id,
    toolName: fields.name,
    isError: status === 'error',
    content,
    usage: usage == null ? null : tokensOf(usage),
  };
}

function tokensOf(usage: NonNullable<z.infer<typeof Usage>>): Tokens {
  const { input_tokens: inputTokens, output_tokens: outputTokens, input_token_details: details } = usage;
  return { inputTokens, outputTokens, cachedInputTokens: details.cache_read };
}

/** Null for what is no count. */
export function usageOf(value: unknown): Tokens | null {
  const usage = Usage.safeParse(value).data;
  return usage == null ? null : tokensOf(usage);
}

/** `AIMessage`, `ai`, `assistant`; a chat message of no known role is the model's. */
function kindOf(className: string): LcMessage['kind'] {
  if (/^(?:AIMessage|ChatMessage|ai$|assistant$)/.test(className)) return 'agent';
  if (/^(?:ToolMessage|tool$)/.test(className)) return 'tool';
  return /^(?:RemoveMessage|remove$)/.test(className) ? 'removal' : 'other';
}

const TextBlock = z.object({ type: z.literal('text'), text: z.string() });
const ReasoningBlock = z.union([
  z.object({ type: z.literal('reasoning'), reasoning: z.string() }).transform(({ reasoning }) => reasoning),
  z.object({ type: z.literal('thinking'), thinking: z.string() }).transform(({ thinking }) => thinking),
]);

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return blocksOf(content)
    .flatMap((block) => TextBlock.safeParse(block).data?.text ?? [])
    .join('');
}

function reasoningIn(content: unknown): string {
  return blocksOf(content)
    .flatMap((block) => ReasoningBlock.safeParse(block).data ?? [])
    .join('');
}

function blocksOf(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [];
}

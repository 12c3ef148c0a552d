import { z } from 'zod';
import { JsonObject } from './json-object.ts';

/**
 * The built-in engine's canonical types (extension contracts, "Canonical types"). Names are the contract's in camelCase
 * (`stop-reason` is `stopReason`, `is-error?` is `isError`); what Tidemark adds is optional and says so.
 */

/** `TextContent`: a plain visible text block. */
export const TextContent = z.strictObject({ type: z.literal('text'), text: z.string() });
export type TextContent = Readonly<z.infer<typeof TextContent>>;

/** `ThinkingContent`: a reasoning block. The signature is opaque and goes back to the provider that made it. */
export const ThinkingContent = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  thinkingSignature: z.string().optional(),
  redacted: z.boolean().optional(),
});
export type ThinkingContent = Readonly<z.infer<typeof ThinkingContent>>;

/**
 * `ToolCall`: the assistant asks for a tool. `id` is Tidemark's, the same when a step is repeated; `nativeId` (addition) is
 * the provider's own. `argumentsError` (addition) says that the wire arguments could not be read: `arguments` is then empty
 * and the call must be answered with an error, never run.
 */
export const ToolCall = z.strictObject({
  type: z.literal('tool-call'),
  id: z.string().min(1),
  name: z.string(),
  arguments: JsonObject,
  nativeId: z.string().optional(),
  argumentsError: z.string().optional(),
});
export type ToolCall = Readonly<z.infer<typeof ToolCall>>;

const tokens = z.number().nonnegative().optional();

/**
 * `Usage`: token counters of one response. `input` is what was not read from a cache; `cacheRead` is what was. `costUsd` (addition)
 * is what they cost, where the model's price is known.
 */
export const Usage = z.strictObject({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  totalTokens: tokens,
  costUsd: z.number().nonnegative().optional(),
});
export type Usage = Readonly<z.infer<typeof Usage>>;

/** `StopReason`: why the assistant stopped producing output. */
export const StopReason = z.enum(['stop', 'length', 'tool-use', 'error', 'aborted']);
export type StopReason = z.infer<typeof StopReason>;

/** Milliseconds since the epoch. */
const timestamp = z.int().nonnegative();

/** `UserMessage`: a single user turn. */
export const UserMessage = z.strictObject({
  role: z.literal('user'),
  content: z.union([z.string(), z.array(TextContent)]),
  timestamp,
});
export type UserMessage = Readonly<z.infer<typeof UserMessage>>;

/** Why a call failed, for the code that decides about a retry (addition). `code` is one of `contract/errors.ts`. */
export const ProviderFailure = z.strictObject({
  code: z.string().min(1),
  retryable: z.boolean(),
  retryAfterMs: z.int().nonnegative().optional(),
});
export type ProviderFailure = Readonly<z.infer<typeof ProviderFailure>>;

/** `AssistantMessage`: a single model response. `errorMessage` is present only when `stopReason` is `error`. */
export const AssistantMessage = z.strictObject({
  role: z.literal('assistant'),
  content: z.array(z.discriminatedUnion('type', [TextContent, ThinkingContent, ToolCall])),
  api: z.string().optional(),
  model: z.string().optional(),
  provider: z.string().optional(),
  stopReason: StopReason.optional(),
  errorMessage: z.string().optional(),
  error: ProviderFailure.optional(),
  usage: Usage.optional(),
  timestamp,
});
export type AssistantMessage = Readonly<z.infer<typeof AssistantMessage>>;
export type AssistantContent = AssistantMessage['content'][number];

/** `AgentToolResult`: the outcome of a tool execution. `details` is for presenters; the model never sees it. */
export const AgentToolResult = z.strictObject({
  content: z.array(TextContent),
  isError: z.boolean(),
  details: z.unknown().optional(),
});
export type AgentToolResult = Readonly<z.infer<typeof AgentToolResult>>;

/** `ToolResultMessage`: the result of one tool call, carried back to the provider on the next turn. */
export const ToolResultMessage = z.strictObject({
  role: z.literal('tool-result'),
  toolCallId: z.string().min(1),
  toolName: z.string(),
  content: z.array(TextContent),
  isError: z.boolean(),
  details: z.unknown().optional(),
  timestamp,
});
export type ToolResultMessage = Readonly<z.infer<typeof ToolResultMessage>>;

/** `Message`: what a conversation is made of. */
export const Message = z.discriminatedUnion('role', [UserMessage, AssistantMessage, ToolResultMessage]);
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** `Tool`: what a provider sees of a tool. `parameters` is a JSON Schema of an object. */
export const Tool = z.strictObject({
  name: z.string().min(1),
  description: z.string(),
  parameters: JsonObject.readonly(),
});
export type Tool = Readonly<z.infer<typeof Tool>>;

/** `AgentContext`: what one provider call is given. */
export const AgentContext = z.strictObject({
  systemPrompt: z.string().optional(),
  messages: z.array(Message).readonly(),
  tools: z.array(Tool).readonly(),
  maxTokens: z.number().positive(),
});
export interface AgentContext extends Readonly<
  Omit<z.infer<typeof AgentContext>, 'systemPrompt' | 'messages' | 'tools'>
> {
  readonly systemPrompt?: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
}

/** The visible text of a message's content, joined. */
export function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
}

import { z } from 'zod';
import { NamedArtifact } from '../named-artifact.ts';

/** What is read of pi's RPC messages (0.73 and 1.6); everything else passes unread. */

const text = z.string().catch('');
const optionalText = z.string().nullish().catch(null);
const id = z.string().min(1);
const count = z.number().nonnegative().catch(0);

export const Usage = z.object({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  cost: z.object({ total: count }).catch({ total: 0 }),
});
export type Usage = z.infer<typeof Usage>;

/** A message with the fields of all roles: each role has some of them. */
export const Message = z.object({
  role: text,
  content: z.union([z.string(), z.array(z.unknown())]).catch(''),
  stopReason: text,
  errorMessage: optionalText,
  usage: Usage.nullish().catch(null),
  customType: text,
  display: z.boolean().catch(false),
});
export type Message = z.infer<typeof Message>;
export const MessageFrame = z.object({ message: Message });

const ToolCall = z.object({ id, name: text, arguments: z.unknown().optional() });
export const UpdateFrame = z.object({
  assistantMessageEvent: z.object({
    type: z.string(),
    contentIndex: z.int().nonnegative().catch(0),
    delta: text,
    toolCall: ToolCall.nullish().catch(null),
  }),
});

/** What a tool gave, or has given so far. */
export const ToolResult = z.object({
  content: z.array(z.unknown()).catch([]),
  details: z.record(z.string(), z.unknown()).nullish().catch(null),
  structuredContent: z.object({ output: optionalText }).nullish().catch(null),
});
export type ToolResult = z.infer<typeof ToolResult>;

export const ToolFrame = z.object({
  toolCallId: id,
  toolName: text,
  args: z.record(z.string(), z.unknown()).catch({}),
  isError: z.boolean().catch(false),
  durationMs: z.number().nonnegative().nullish().catch(null),
  result: ToolResult.catch({ content: [], details: null, structuredContent: null }),
  /** Of an update: what is new since the one before. */
  output: text,
});
export type ToolFrame = z.infer<typeof ToolFrame>;

export const ResponseFrame = z.object({
  id: optionalText,
  command: text,
  success: z.boolean(),
  error: optionalText,
  data: z.unknown().optional(),
});

export const SessionState = z.object({
  sessionId: id,
  sessionName: optionalText,
  messageCount: count,
  isStreaming: z.boolean().catch(false),
  model: z.object({ id, provider: text }).nullish().catch(null),
});
export type SessionState = z.infer<typeof SessionState>;

export const Commands = z.object({
  commands: z.array(z.object({ name: id, description: optionalText })).catch([]),
});

/** What an extension asks of, or shows to, who drives pi. */
export const UiRequest = z.object({
  id,
  method: z.string(),
  title: text,
  message: text,
  placeholder: text,
  prefill: optionalText,
  options: z.array(z.string()).catch([]),
  timeout: z.number().positive().nullish().catch(null),
  notifyType: optionalText,
  statusKey: text,
  statusText: optionalText,
  widgetKey: text,
  widgetLines: z.array(z.string()).nullish().catch(null),
});
export type UiRequest = z.infer<typeof UiRequest>;

/** What the driver put into a frame: a text that is kept elsewhere, and what became of files. */
export const Kept = z.object({
  output: NamedArtifact.optional(),
  changes: z
    .array(z.object({ path: id, changeType: z.enum(['create', 'edit']), diff: NamedArtifact.optional() }))
    .optional(),
});
export type Kept = z.infer<typeof Kept>;

/** The text of a message or of a tool's result; what is no text is left out. */
export function textOf(content: string | readonly unknown[]): string {
  if (typeof content === 'string') return content;
  return content
    .map((block) => (block as { text?: unknown } | null)?.text)
    .filter((part) => typeof part === 'string')
    .join('\n');
}

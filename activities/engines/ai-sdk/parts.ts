import { z } from 'zod';

const text = z.string().catch('');
const optionalText = z.string().nullish().catch(null);
const count = z.number().nonnegative().optional().catch(undefined);

/** The parts of a `fullStream` that the dialect reads, as JSON: of `ai` 5, 6 and 7. What it does not need is left out. */
export const Delta = z.object({ id: z.string(), text: z.string() });
export const Block = z.object({ id: z.string() });

export const ToolCall = z.object({
  toolCallId: z.string().min(1),
  toolName: text,
  title: optionalText,
  input: z.unknown().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

export const ToolResult = ToolCall.extend({
  output: z.unknown().optional(),
  preliminary: z.boolean().catch(false),
});
export type ToolResult = z.infer<typeof ToolResult>;

export const ToolError = ToolCall.extend({ error: z.unknown().optional() });

export const ApprovalRequest = z.object({ approvalId: z.string().min(1), toolCall: ToolCall });
export const ApprovalResponse = z.object({
  type: z.literal('tool-approval-response'),
  approvalId: z.string().min(1),
  approved: z.boolean(),
  reason: optionalText,
});
export type ApprovalResponse = z.infer<typeof ApprovalResponse>;

/** What the model was told in answer to a call that the library does not carry out itself. */
export const GivenResult = z.object({
  type: z.literal('tool-result'),
  toolCallId: z.string().min(1),
  output: z.object({ type: text, value: z.unknown().optional(), reason: optionalText }).catch({ type: '' }),
});
export type GivenResult = z.infer<typeof GivenResult>;

/** The messages that are sent to the agent: only what answers it is read. */
export const Prompt = z.object({ messages: z.array(z.object({ role: text, content: z.unknown().optional() })) });

export const StepStart = z.object({ warnings: z.array(z.unknown()).catch([]) });
export const CallWarning = z.object({
  type: text,
  feature: optionalText,
  setting: optionalText,
  message: optionalText,
  details: optionalText,
});

const Usage = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  inputTokenDetails: z.object({ cacheReadTokens: count }).catch({}),
});
export type Usage = z.infer<typeof Usage>;
export const StepFinish = z.object({
  finishReason: text,
  usage: Usage.nullish().catch(null),
  response: z.object({ modelId: optionalText }).catch({}),
});

export const StreamError = z.object({ error: z.unknown().optional() });

export const Source = z.object({ id: text, title: optionalText, url: optionalText, filename: optionalText });
export const ModelFile = z.object({ file: z.object({ mediaType: text }).catch({ mediaType: '' }) });
export const Steering = z.object({ message: z.object({ content: z.unknown().optional() }) });

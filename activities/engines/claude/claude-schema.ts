import { z } from 'zod';
import { NamedArtifact } from '../named-artifact.ts';

/** What is read of the stream-json messages of Claude Code 2.1; everything else passes unread. */

const text = z.string().catch('');
const optionalText = z.string().nullish().catch(null);
const optionalId = z.string().min(1).nullish().catch(null);
const count = z.number().nonnegative().catch(0);
const optionalCount = z.number().nonnegative().nullish().catch(null);

/** Whose message it is: a sub-agent's carries the call that launched it. */
export const Scope = z.object({
  parent_tool_use_id: optionalId,
  subagent_type: optionalText,
  task_description: optionalText,
});
export type Scope = z.infer<typeof Scope>;

/** A block of a message with the fields of all its types: each type has some of them. */
const Block = z.object({
  type: text,
  text,
  thinking: text,
  id: text,
  name: text,
  input: z.unknown().optional(),
  tool_use_id: text,
  content: z.unknown().optional(),
  is_error: z.boolean().nullish().catch(null),
});
export type Block = z.infer<typeof Block>;

const content = z.union([z.string(), z.array(Block)]);

export const AssistantMessage = z.object({
  message: z.object({ id: z.string().min(1), content }),
  is_api_error_message: z.boolean().catch(false),
  error: optionalText,
});

export const UserMessage = z.object({
  message: z.object({ content }),
  isReplay: z.boolean().catch(false),
  tool_use_result: z.unknown().optional(),
  tool_result_meta: z.array(z.object({ id: text, non_execution_kind: optionalText })).catch([]),
});

const Tokens = z.object({
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
});
export const StreamEvent = z.object({
  event: z.object({
    type: text,
    index: count,
    message: z.object({ id: z.string().min(1), usage: Tokens.nullish().catch(null) }).optional(),
    content_block: Block.optional(),
    delta: z.object({ type: text, text, thinking: text }).optional(),
    usage: Tokens.nullish().catch(null),
    error: z.object({ message: text }).nullish().catch(null),
  }),
});
export type StreamEvent = z.infer<typeof StreamEvent>['event'];

const ModelUsage = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
  costUSD: optionalCount,
});
export const ResultMessage = z.object({
  subtype: text,
  is_error: z.boolean().catch(false),
  result: text,
  errors: z.array(z.string()).catch([]),
  stop_reason: optionalText,
  terminal_reason: optionalText,
  usage: Tokens.nullish().catch(null),
  model_usage_since_last_result: z.record(z.string(), ModelUsage).nullish().catch(null),
  uuid: text,
});
export type ResultMessage = z.infer<typeof ResultMessage>;

export const SessionInit = z.object({
  session_id: z.string().min(1),
  cwd: optionalText,
  model: optionalText,
  permissionMode: optionalText,
  tools: z.array(z.string()).catch([]),
  mcp_servers: z.array(z.object({ name: text, status: text })).catch([]),
});

export const StatusMessage = z.object({
  status: optionalText,
  permissionMode: optionalText,
  compact_result: optionalText,
  compact_error: optionalText,
});

export const Command = z.object({ name: text, description: optionalText, argumentHint: optionalText });
export const Commands = z.object({ commands: z.array(Command).catch([]) });

/** What the program answers to `initialize`. */
export const Initialized = z.object({
  response: z.object({
    response: z.object({
      commands: z.array(Command).catch([]),
      models: z.array(z.object({ value: text })).catch([]),
      output_style: optionalText,
      claude_code_version: optionalText,
    }),
  }),
});

export const TaskMessage = z.object({
  task_id: z.string().min(1),
  tool_use_id: optionalId,
  task_type: optionalText,
  description: text,
  subagent_type: optionalText,
  prompt: optionalText,
  status: text,
  summary: optionalText,
  last_tool_name: optionalText,
  usage: z.object({ total_tokens: count, tool_uses: count, duration_ms: count }).nullish().catch(null),
  patch: z.object({ status: optionalText, error: optionalText }).nullish().catch(null),
});
export type TaskMessage = z.infer<typeof TaskMessage>;

/** A sub-agent that was sent off: its call's result is not its own. */
export const Detached = z.union([
  z.object({ isAsync: z.literal(true) }),
  z.object({ status: z.literal('async_launched') }),
]);

const Hunk = z.object({
  oldStart: z.number(),
  oldLines: z.number(),
  newStart: z.number(),
  newLines: z.number(),
  lines: z.array(z.string()),
});
/** What a tool that writes files left. */
export const FileResult = z.object({
  filePath: z.string().min(1),
  type: optionalText,
  content: optionalText,
  originalFile: optionalText,
  structuredPatch: z.array(Hunk),
});
export type FileResult = z.infer<typeof FileResult>;

/** What a tool that runs commands left. */
export const ShellResult = z.object({ stdout: z.string(), stderr: text });

/** What the driver took out of a frame because it is large. */
export const Kept = z.object({
  diffs: z
    .array(
      z.object({
        path: z.string().min(1),
        changeType: z.enum(['create', 'edit', 'delete']),
        diff: NamedArtifact.optional(),
      }),
    )
    .optional(),
  output: NamedArtifact.optional(),
});
export type Kept = z.infer<typeof Kept>;

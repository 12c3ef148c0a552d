import { z } from 'zod';
import { NamedArtifact } from '../named-artifact.ts';

/** What is read of the app-server's messages (0.171.0); everything else passes unread. */

const text = z.string().catch('');
const optionalId = z.string().min(1).nullish().catch(null);
const optionalText = z.string().nullish().catch(null);

/** Whose message it is: of what concerns no thread, nobody's. */
export const Scope = z.object({
  threadId: optionalId,
  turnId: optionalId,
  itemId: optionalId,
});

export const FileUpdate = z.object({
  path: z.string().min(1),
  kind: z.object({ type: text, move_path: optionalText }).catch({ type: 'update', move_path: null }),
  diff: text,
});
export type FileUpdate = z.infer<typeof FileUpdate>;

const AgentState = z.object({ status: text, message: optionalText });

/** An item of a turn with the fields of all its types: each type has some of them. */
export const Item = z.object({
  id: z.string().min(1),
  type: z.string(),
  status: text,
  text,
  summary: z.array(z.string()).catch([]),
  content: z.array(z.unknown()).catch([]),
  command: text,
  cwd: text,
  aggregatedOutput: optionalText,
  exitCode: z.number().nullish().catch(null),
  durationMs: z.number().nonnegative().nullish().catch(null),
  changes: z.array(FileUpdate).catch([]),
  server: optionalText,
  namespace: optionalText,
  tool: text,
  arguments: z.unknown().optional(),
  result: z
    .object({ content: z.array(z.unknown()).catch([]) })
    .nullish()
    .catch(null),
  contentItems: z.array(z.unknown()).nullish().catch(null),
  error: z.object({ message: text }).nullish().catch(null),
  success: z.boolean().nullish().catch(null),
  query: text,
  path: text,
  receiverThreadIds: z.array(z.string().min(1)).catch([]),
  prompt: optionalText,
  model: optionalText,
  agentsStates: z.record(z.string(), AgentState).catch({}),
  kind: z.unknown().optional(),
  agentThreadId: optionalText,
});
export type Item = z.infer<typeof Item>;

export const ItemMessage = z.object({ item: Item });
export const Delta = z.object({ itemId: z.string().min(1), delta: z.string(), summaryIndex: z.number().catch(0) });
export const Thread = z.object({ id: z.string().min(1), parentThreadId: optionalText, name: optionalText });
export const ThreadMessage = z.object({
  thread: Thread,
  model: optionalText,
});

/** A thread that was begun or taken up, and how it works. */
export const OpenedThread = z.object({
  thread: z.object({ id: z.string().min(1) }),
  model: z.string(),
  reasoningEffort: optionalText,
  // of one that was just begun it is not told: that works in the default one
  collaborationMode: z.object({ mode: text }).nullish().catch(null),
});
export type OpenedThread = z.infer<typeof OpenedThread>;

export const Turn = z.object({
  id: z.string().min(1),
  status: text,
  error: z.object({ message: text }).nullish().catch(null),
});
export const TurnMessage = z.object({ threadId: z.string().min(1), turn: Turn });
export type TurnMessage = z.infer<typeof TurnMessage>;

/** The engine waits for no answer to a request any more. */
export const ResolvedRequest = z.object({ requestId: z.union([z.string(), z.number()]) });

const Tokens = z.object({
  inputTokens: z.number().nonnegative(),
  cachedInputTokens: z.number().nonnegative().catch(0),
  outputTokens: z.number().nonnegative(),
});
export type Tokens = z.infer<typeof Tokens>;
export const TokenUsage = z.object({
  tokenUsage: z.object({ total: Tokens, last: Tokens, modelContextWindow: z.number().nullish().catch(null) }),
});

export const Plan = z.object({ plan: z.array(z.object({ step: text, status: text })) });
export const TurnDiff = z.object({ diff: z.string() });
export const ErrorMessage = z.object({ error: z.object({ message: text }), willRetry: z.boolean().catch(false) });
export const Settings = z.object({
  threadSettings: z.object({
    model: optionalText,
    collaborationMode: z.object({ mode: optionalText }).nullish().catch(null),
  }),
});

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

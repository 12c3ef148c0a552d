import { z } from 'zod';
import { NamedArtifact } from '../named-artifact.ts';

/**
 * What is read of ACP v1 and of its unstable part, and nothing else: an agent may add fields, leave out what is optional, or
 * give null for it. A field of a wrong type counts as left out where the frame means something without it.
 */
const text = z.string();
const optionalText = text.nullish().catch(null);
const optionalNumber = z.number().nonnegative().nullish().catch(null);

export const ContentBlock = z.looseObject({ type: text, text: optionalText });

const ToolContent = z.looseObject({
  type: text,
  content: ContentBlock.nullish().catch(null),
  path: optionalText,
  oldText: optionalText,
  newText: optionalText,
  terminalId: optionalText,
  _meta: z.looseObject({ kind: optionalText }).nullish().catch(null),
});
export type ToolContent = z.infer<typeof ToolContent>;

const ToolMeta = z.looseObject({
  claudeCode: z
    .looseObject({ toolName: optionalText, parentToolUseId: optionalText, toolResponse: z.unknown().optional() })
    .nullish()
    .catch(null),
  terminal_output_delta: z.looseObject({ data: text, terminal_id: optionalText }).nullish().catch(null),
  terminal_exit: z.looseObject({ exit_code: z.number().nullish() }).nullish().catch(null),
});

export const ToolUpdate = z.looseObject({
  toolCallId: text.min(1),
  name: optionalText,
  title: optionalText,
  kind: optionalText,
  status: optionalText,
  content: z.array(ToolContent).nullish().catch(null),
  locations: z
    .array(z.looseObject({ path: text.min(1) }))
    .nullish()
    .catch(null),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: ToolMeta.nullish().catch(null),
});
export type ToolUpdate = z.infer<typeof ToolUpdate>;

export const Chunk = z.looseObject({
  messageId: optionalText,
  content: ContentBlock,
  _meta: ToolMeta.nullish().catch(null),
});

export const SessionUpdate = z.looseObject({
  sessionId: optionalText,
  update: z.looseObject({ sessionUpdate: text }),
});

export const ConfigOption = z.looseObject({
  id: text,
  category: optionalText,
  currentValue: z.union([text, z.boolean()]).nullish().catch(null),
});

/** The answer to session/new, session/load and session/resume; also carries what is set at the moment. */
export const SessionState = z.looseObject({
  sessionId: optionalText,
  modes: z
    .looseObject({ currentModeId: optionalText, availableModes: z.array(z.looseObject({ id: text })).catch([]) })
    .nullish()
    .catch(null),
  models: z
    .looseObject({ currentModelId: optionalText, availableModels: z.array(z.looseObject({ modelId: text })).catch([]) })
    .nullish()
    .catch(null),
  configOptions: z.array(ConfigOption).nullish().catch(null),
});
export type SessionState = z.infer<typeof SessionState>;

export const Commands = z.looseObject({
  availableCommands: z.array(
    z.looseObject({
      name: optionalText,
      description: optionalText,
      input: z
        .union([text, z.looseObject({ hint: text })])
        .nullish()
        .catch(null),
    }),
  ),
});

export const PlanEntries = z.array(
  z.looseObject({ id: optionalText, content: optionalText, description: optionalText, status: optionalText }),
);

const CodexError = z.looseObject({
  message: optionalText,
  additionalDetails: optionalText,
  willRetry: z.boolean().nullish().catch(null),
});

export const SessionInfo = z.looseObject({
  title: optionalText,
  _meta: z
    .looseObject({
      codex: z
        .looseObject({
          error: CodexError.nullish().catch(null),
          threadStatus: z.looseObject({ type: text }).nullish().catch(null),
        })
        .nullish()
        .catch(null),
    })
    .nullish()
    .catch(null),
});

export const ContextUsage = z.looseObject({
  used: z.number(),
  size: z.number(),
  cost: z.looseObject({ amount: z.number().nonnegative(), currency: text }).nullish().catch(null),
});

const Usage = z.looseObject({
  totalTokens: optionalNumber,
  inputTokens: optionalNumber,
  outputTokens: optionalNumber,
  cachedReadTokens: optionalNumber,
  cachedWriteTokens: optionalNumber,
});
export type Usage = z.infer<typeof Usage>;

const Quota = z.looseObject({
  token_count: z.looseObject({ input_tokens: optionalNumber, output_tokens: optionalNumber }),
});

export const PromptResult = z.looseObject({
  stopReason: optionalText,
  usage: Usage.nullish().catch(null),
  _meta: z
    .looseObject({ quota: Quota.nullish().catch(null) })
    .nullish()
    .catch(null),
});

export const Notice = z.looseObject({ severity: text, title: text, description: optionalText });

export const Compaction = z.looseObject({
  compactionId: text,
  status: text,
  summary: z.array(ContentBlock).nullish().catch(null),
  error: optionalText,
});

export const SubagentUpdate = z.looseObject({
  sessionId: text.min(1),
  title: optionalText,
  description: optionalText,
  state: z.looseObject({ state: text, stopReason: optionalText }).nullish().catch(null),
});

export const SessionLetter = z.looseObject({
  messageId: text,
  senderSessionId: optionalText,
  recipientSessionId: optionalText,
  content: z.array(ContentBlock).nullish().catch(null),
});

/** What the driver took out of a frame, see the driver. */
export const Kept = z.looseObject({
  diffs: z
    .array(
      z.looseObject({
        path: text.min(1),
        changeType: z.enum(['create', 'edit', 'delete']),
        diff: NamedArtifact.optional(),
      }),
    )
    .optional()
    .catch(undefined),
  output: NamedArtifact.optional().catch(undefined),
});
export type Kept = z.infer<typeof Kept>;

export const RpcError = z.looseObject({ code: z.number().nullish().catch(null), message: optionalText });

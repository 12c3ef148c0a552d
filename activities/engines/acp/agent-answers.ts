import { z } from 'zod';

const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);
const listOf = <T extends z.ZodType>(schema: T) => z.array(schema).catch([]);

/** A capability is there when it is an object; `null`, `false` and absence say that it is not. */
const capability = z
  .unknown()
  .optional()
  .transform((value) => typeof value === 'object' && value !== null);

/** What is read of an agent's answer to `initialize`. */
export const InitializeAnswer = z.object({
  protocolVersion: z.number(),
  authMethods: listOf(z.object({ id: z.string(), name: z.string().catch('') })),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().catch(false),
      sessionCapabilities: z
        .object({ resume: capability, close: capability, subagents: capability })
        .catch({ resume: false, close: false, subagents: false }),
      _meta: z.record(z.string(), z.unknown()).catch({}),
    })
    .catch({
      loadSession: false,
      sessionCapabilities: { resume: false, close: false, subagents: false },
      _meta: {},
    }),
});
export type InitializeAnswer = z.infer<typeof InitializeAnswer>;

const Choice = z.object({ value: z.string() });

/** A setting of a session. A select's choices may be grouped. */
export const ConfigOption = z.object({
  id: z.string(),
  category: optional(z.string()),
  type: z.string().catch('select'),
  currentValue: z.union([z.string(), z.boolean()]).nullish().catch(null),
  options: listOf(z.union([Choice, z.object({ options: listOf(Choice) })])).transform((options) => {
    return options.flatMap((option) => ('value' in option ? [option.value] : option.options.map(({ value }) => value)));
  }),
});
export type ConfigOption = z.infer<typeof ConfigOption>;

/** What is read of an answer to `session/new`, `session/load` and `session/resume`; `models` is gemini's older dialect. */
export const SessionAnswer = z.object({
  sessionId: optional(z.string()),
  modes: optional(z.object({ currentModeId: z.string(), availableModes: listOf(z.object({ id: z.string() })) })),
  models: optional(
    z.object({ currentModelId: z.string().catch(''), availableModels: listOf(z.object({ modelId: z.string() })) }),
  ),
  configOptions: listOf(ConfigOption),
});
export type SessionAnswer = z.infer<typeof SessionAnswer>;

/** A JSON-RPC error of an agent. */
export const AgentError = z.object({
  code: z.number().catch(0),
  message: z.string().catch('no reason given'),
});

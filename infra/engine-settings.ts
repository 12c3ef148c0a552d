import { z } from 'zod';

/** The engines that Tidemark knows how to start, by name; `npm run engines` installs them. */
export const PRESET_NAMES = ['opencode', 'claude', 'codex', 'gemini'] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

/** Where the commands of Codex may write. */
const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'] as const;

const seconds = z.number().positive().max(86_400);

/** What every engine with a loop of its own may be given. */
const common = {
  /** Names of the worker's environment variables that its process gets, beside PATH, HOME, LANG, TERM and the like. */
  passEnv: z.array(z.string().min(1).max(200)).default([]),
  /** Variables that are set for its process. */
  env: z.record(z.string(), z.string()).default({}),
  /** Resident memory of its processes together, at most; over it they are killed. */
  memoryMb: z.int().positive().max(1_048_576).default(4_096),
  stallSeconds: seconds.default(180),
  toolStallSeconds: seconds.default(3_600),
  turnMinutes: z.number().positive().max(1_440).default(120),
  /** So long an open question keeps the process; then the run parks, where the engine can take its session up again. */
  hotMinutes: z.number().nonnegative().max(1_440).default(30),
};

/** Command and arguments. */
const command = z.array(z.string().min(1)).min(1).max(100);

/** A module whose default export is the agent, or a function that makes it; relative to the config file. */
const module = z.string().min(1);
const rules = z.array(z.string().min(1).max(1_000)).max(200);

/** An engine of `tidemark.config.ts`. */
export const EngineSettings = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('acp'),
    preset: z.enum(PRESET_NAMES).optional(),
    /** Needed without a preset. */
    command: command.optional(),
    mode: z.string().max(200).optional(),
    model: z.string().max(200).optional(),
    /** Session configuration options to set: id → value. */
    options: z.record(z.string(), z.string()).default({}),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('ai-sdk'),
    module,
    model: z.string().max(200).optional(),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('claude'),
    /** The program and its first arguments: what makes it speak its protocol comes behind them. */
    command: command.optional(),
    model: z.string().max(200).optional(),
    permissionMode: z
      .enum(['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'])
      .default('default'),
    /** The built-in tools that it has; left out, its own choice. */
    tools: rules.optional(),
    /** Rules of what it need not ask for, such as `Bash(git status)`, and of what it may not do at all. */
    allowedTools: rules.default([]),
    disallowedTools: rules.default([]),
    /** Whose settings files it reads; left out, all of them. */
    settingSources: z.array(z.enum(['user', 'project', 'local'])).optional(),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('codex'),
    command: command.optional(),
    model: z.string().max(200).optional(),
    approvalPolicy: z.enum(['untrusted', 'on-request', 'never']).default('untrusted'),
    sandbox: z.enum(SANDBOXES).default('workspace-write'),
    /** It asks questions of its own only where it plans. */
    collaborationMode: z.enum(['default', 'plan']).default('default'),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('codex-exec'),
    /** Up to `exec`. */
    command: command.optional(),
    model: z.string().max(200).optional(),
    sandbox: z.enum(SANDBOXES).default('workspace-write'),
    /** What is to leave the sandbox a model of Codex judges, in the place of a person; `workspace-write` alone has that. */
    approveForMe: z.boolean().default(false),
    ...common,
    /** It says nothing while its model writes: only what is whole. */
    stallSeconds: seconds.default(900),
  }),
  z.strictObject({
    kind: z.literal('langgraph'),
    module,
    model: z.string().max(200).optional(),
    /** What the graph is listened to by: its stream modes, or its protocol of events. */
    events: z.enum(['modes', 'v3']).default('modes'),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('opencode'),
    command: command.optional(),
    /** As the engine names it: the provider, a slash, the model. */
    model: z.string().max(200).optional(),
    /** As whom it works, of those that its own configuration has. */
    agent: z.string().min(1).max(200).optional(),
    /** By itself it asks a model that fails again for ever. */
    modelRetries: z.int().nonnegative().max(100).default(5),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('lifecycle'),
    /** A module whose exports are `stream`, `resume` and `cancel`; relative to the config file. */
    module: z.string().min(1).optional(),
    /** A service: `POST {url}/runs` … */
    url: z.url({ protocol: /^https?$/ }).optional(),
    /** Headers of each request; `$NAME` in a value is that environment variable. */
    headers: z.record(z.string(), z.string()).default({}),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('pi'),
    command: command.optional(),
    model: z.string().max(200).optional(),
    /** Tools that need an approval: names, or the beginning of some and a `*`. */
    ask: z
      .array(z.string().regex(/^[\w-]*\*?$/, 'must be the name of a tool, or its beginning and a *'))
      .default(['bash', 'write', 'edit']),
    ...common,
  }),
]);
export type EngineSettings = z.infer<typeof EngineSettings>;
export type EngineSettingsOf<K extends EngineSettings['kind']> = Extract<EngineSettings, { kind: K }>;

/** The kinds of an agent that is a module of the user's, and runs in a process of its own. */
export type HostedKind = 'ai-sdk' | 'langgraph';

export function isHosted(settings: EngineSettings): settings is EngineSettingsOf<HostedKind> {
  return settings.kind === 'ai-sdk' || settings.kind === 'langgraph';
}

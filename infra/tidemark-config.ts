import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ConfigError, type Config } from './config.ts';
import { EngineSettings, isHosted } from './engine-settings.ts';
import { ExtensionEntries, extensionsOf, type ExtensionEntry, type ExtensionSettings } from './extension-settings.ts';
import { besideFile, McpServerName, McpServerSettings, type ConfiguredMcpServers } from './mcp-settings.ts';
import { ModelName, ModelSettings, type ConfiguredModels } from './model-settings.ts';
import { SessionSettings, sessionsOf } from './session-settings.ts';

/** The engines with a loop of their own that this installation has, by the name that a run gives. */
export type ConfiguredEngines = ReadonlyMap<string, EngineSettings>;

/** What `tidemark.config.ts` exports. */
export interface TidemarkConfigInput {
  /** Beside the ones that are there without a file, and instead of one of the same name; `false` removes one. */
  readonly engines?: Readonly<Record<string, z.input<typeof EngineSettings> | false>>;
  /** Modules that extend the built-in engine, in the order in which they are loaded. */
  readonly extensions?: readonly ExtensionEntry[];
  /** Servers whose tools the built-in engine offers to its models, by name. */
  readonly mcpServers?: Readonly<Record<string, z.input<typeof McpServerSettings>>>;
  /** Limits and prices of the built-in engine's models, by `provider/model`; `*` is every model. */
  readonly models?: Readonly<Record<string, ModelSettings>>;
  /** Keeps the built-in engine's conversations as files, too. */
  readonly sessions?: SessionSettings;
}

/** What an installation is configured with, beside its environment. */
export interface TidemarkConfig {
  readonly engines: ConfiguredEngines;
  readonly extensions: readonly ExtensionSettings[];
  readonly mcpServers: ConfiguredMcpServers;
  readonly models: ConfiguredModels;
  readonly sessions: SessionSettings | null;
}

/** There without a file: what `npm run engines -- install` can install. */
const PRESETS: Readonly<Record<string, z.input<typeof EngineSettings>>> = {
  opencode: { kind: 'acp', preset: 'opencode' },
  claude: { kind: 'acp', preset: 'claude' },
  codex: { kind: 'codex', passEnv: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_HOME'] },
  gemini: { kind: 'acp', preset: 'gemini' },
  pi: { kind: 'pi' },
};

const EngineName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,40}$/,
    'must begin with a letter and hold only lower-case letters, digits and "-", 41 at most',
  )
  .refine((name) => name !== 'builtin', 'is the name of the engine that Tidemark brings: choose another');

const Entry = z.union([z.literal(false), EngineSettings.check(hasWhatItStarts)]);
const File = z.strictObject({
  engines: z.record(EngineName, z.unknown()).default({}),
  extensions: ExtensionEntries.default([]),
  mcpServers: z.record(McpServerName, McpServerSettings).default({}),
  models: z.record(ModelName, ModelSettings).default({}),
  sessions: SessionSettings.optional(),
});

/**
 * Reads `tidemark.config.ts`, if there is one, over the presets.
 *
 * @throws ConfigError with a line for each field that cannot be used.
 */
export async function loadTidemarkConfig({ configFile }: Pick<Config, 'configFile'>): Promise<TidemarkConfig> {
  if (configFile === undefined) {
    const nothing = { extensions: [], mcpServers: new Map(), models: new Map(), sessions: null };
    return { engines: enginesFrom({}, undefined), ...nothing };
  }
  const file = fileOf(configFile, await importDefault(configFile));
  return {
    engines: enginesFrom(file.engines, configFile),
    extensions: extensionsOf(file.extensions, configFile),
    mcpServers: new Map(
      Object.entries(file.mcpServers).map(([name, settings]) => [name, besideFile(configFile, settings)]),
    ),
    models: new Map(Object.entries(file.models)),
    sessions: file.sessions === undefined ? null : sessionsOf(file.sessions, configFile),
  };
}

function enginesFrom(given: Readonly<Record<string, unknown>>, configFile: string | undefined): ConfiguredEngines {
  const entries = Object.entries({ ...PRESETS, ...given }).map(([name, entry]) => [name, Entry.parse(entry)] as const);
  const engines = entries.filter((entry): entry is [string, EngineSettings] => entry[1] !== false);
  return new Map(engines.map(([name, settings]) => [name, beside(configFile, settings)]));
}

async function importDefault(file: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(file).href)) as { default?: unknown };
    return module.default;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`${file} cannot be loaded: ${reason}. Correct it, or set TIDEMARK_CONFIG to another file.`]);
  }
}

function fileOf(file: string, exported: unknown): z.infer<typeof File> {
  if (exported === undefined) {
    throw new ConfigError([`${file} has no default export. Write: export default defineConfig({ engines: { … } }).`]);
  }
  const parsed = File.safeParse(exported);
  if (!parsed.success) throw new ConfigError(linesOf(file, [], parsed.error));
  const lines = Object.entries(parsed.data.engines).flatMap(([name, entry]) => linesOfEngine(file, name, entry));
  if (lines.length > 0) throw new ConfigError(lines);
  return parsed.data;
}

/** A union's own words would be about every member: `false` is looked at first. */
function linesOfEngine(file: string, name: string, entry: unknown): string[] {
  if (entry === false) return [];
  const parsed = EngineSettings.check(hasWhatItStarts).safeParse(entry);
  return parsed.success ? [] : linesOf(file, ['engines', name], parsed.error);
}

function linesOf(file: string, path: readonly string[], error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const field = [...path, ...issue.path].map(String).join('.');
    const inner = issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message).join('; ') : issue.message;
    return `${file}: ${field === '' ? 'the default export' : field}: ${inner}. Correct it, or leave it out.`;
  });
}

/** What one of the fields has to give, and no type of one field can say. */
function hasWhatItStarts({ value, issues }: z.core.ParsePayload<EngineSettings>): void {
  const add = (path: string, message: string) => issues.push({ code: 'custom', message, path: [path], input: value });
  if (value.kind === 'acp' && value.preset === undefined && value.command === undefined) {
    add('command', 'is needed, such as ["my-agent", "--acp"], or a preset');
  }
  if (value.kind === 'codex-exec' && value.approveForMe && value.sandbox !== 'workspace-write') {
    add('approveForMe', 'goes with the sandbox "workspace-write" alone');
  }
  if (value.kind === 'lifecycle' && (value.module === undefined) === (value.url === undefined)) {
    add('module', 'is needed, or url, and not both');
  }
}

/** A module, and a command that is a path, are found from the file that names them. */
function beside(file: string | undefined, settings: EngineSettings): EngineSettings {
  if (file === undefined) return settings;
  const folder = dirname(file);
  if (settings.kind === 'lifecycle' || isHosted(settings)) {
    return settings.module === undefined ? settings : { ...settings, module: resolve(folder, settings.module) };
  }
  const [program, ...args] = settings.command ?? [];
  if (program === undefined || !program.startsWith('.')) return settings;
  return { ...settings, command: [resolve(folder, program), ...args] };
}

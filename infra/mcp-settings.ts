import { dirname, resolve } from 'node:path';
import { z } from 'zod';

/** The name of a server stands in the names of its tools, `mcp__<server>__<tool>`, which may have 64 characters in all. */
export const McpServerName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,23}$/,
    'must begin with a letter and hold only lower-case letters, digits and "-", 24 at most',
  );

/** A tool of the server by its own name; `*` stands for any characters. */
const toolPattern = z.string().min(1).max(200);

const Fields = z.strictObject({
  /** Command and arguments of a server that speaks over its standard input and output. */
  command: z.array(z.string().min(1)).min(1).max(100).optional(),
  /** Variables that are set for its process. */
  env: z.record(z.string(), z.string()).optional(),
  /** Names of the worker's environment variables that its process gets, beside PATH, HOME, LANG, TERM and the like. */
  passEnv: z.array(z.string().min(1).max(200)).optional(),
  /** Where its process starts; not given: beside the configuration file. */
  cwd: z.string().min(1).optional(),
  /** Resident memory of its processes together, at most; over it they are killed. */
  memoryMb: z.int().positive().max(1_048_576).optional(),
  /** The address of a server that speaks streamable HTTP. */
  url: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  /** Headers of each request; `$NAME` in a value is that environment variable of the worker. */
  headers: z.record(z.string(), z.string()).optional(),
  /** Which of its tools a model is offered: those that `allow` names, all if it is left out, without those that `deny` names. */
  tools: z
    .strictObject({ allow: z.array(toolPattern).optional(), deny: z.array(toolPattern).default([]) })
    .default({ deny: [] }),
  /** Whether a person approves each call. `unless-read-only`: not those of tools that the server says only read. */
  approval: z.enum(['always', 'never', 'unless-read-only']).default('always'),
  /** Believe what the server says of its tools: idempotent ones are run again after a crash, reading ones side by side. */
  trustAnnotations: z.boolean().default(false),
  /** So long a call may take. */
  timeoutSeconds: z.number().positive().max(3_600).default(120),
  /** So long the server may take to start and to say what it offers. */
  startSeconds: z.number().positive().max(300).default(30),
});

type Fields = z.infer<typeof Fields>;
type Common = Pick<Fields, 'tools' | 'approval' | 'trustAnnotations' | 'timeoutSeconds' | 'startSeconds'>;

export interface McpStdioSettings extends Common {
  readonly transport: 'stdio';
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  readonly cwd: string;
  readonly memoryMb: number;
}

export interface McpHttpSettings extends Common {
  readonly transport: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_MEMORY_MB = 2_048;
const ONLY_WITH_COMMAND = ['env', 'passEnv', 'cwd', 'memoryMb'] as const;

/** A server of `mcpServers` in `tidemark.config.ts`: a command, or an address. */
export const McpServerSettings = Fields.check(isOneOfBoth).transform(settingsOf);
export type McpServerSettings = McpStdioSettings | McpHttpSettings;

/** The servers of this installation by name. */
export type ConfiguredMcpServers = ReadonlyMap<string, McpServerSettings>;

/** A command that is a path, and the folder to start it in, are found from the file that names them. */
export function besideFile(file: string, settings: McpServerSettings): McpServerSettings {
  if (settings.transport === 'http') return settings;
  const folder = dirname(file);
  const [program = '', ...args] = settings.command;
  const found = program.startsWith('.') ? resolve(folder, program) : program;
  return { ...settings, command: [found, ...args], cwd: resolve(folder, settings.cwd) };
}

function isOneOfBoth({ value, issues }: z.core.ParsePayload<Fields>): void {
  const add = (path: string, message: string) => issues.push({ code: 'custom', message, path: [path], input: value });
  const isCommand = value.command !== undefined;
  if (isCommand === (value.url !== undefined)) {
    add('command', 'is needed, such as ["npx", "-y", "some-mcp-server"], or url, and not both');
  } else if (isCommand && value.headers !== undefined) {
    add('headers', 'go with url; a command is given env and passEnv');
  } else if (!isCommand) {
    for (const field of ONLY_WITH_COMMAND.filter((each) => value[each] !== undefined)) add(field, 'goes with command');
  }
}

function settingsOf(fields: Fields): McpServerSettings {
  const { tools, approval, trustAnnotations, timeoutSeconds, startSeconds } = fields;
  const common = { tools, approval, trustAnnotations, timeoutSeconds, startSeconds };
  if (fields.url !== undefined) {
    return { transport: 'http', url: fields.url, headers: fields.headers ?? {}, ...common };
  }
  const { command = [], env = {}, passEnv = [], cwd = '.', memoryMb = DEFAULT_MEMORY_MB } = fields;
  return { transport: 'stdio', command, env, passEnv, cwd, memoryMb, ...common };
}

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { defaultModel, providersFrom, providerVariables, type ProviderConfig } from './provider-config.ts';

/** A variable that cannot be used: one line for each, with its name and what to do. */
export class ConfigError extends Error {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigError';
  }
}

export type Config = {
  /** Where everything that must survive a restart is kept. */
  readonly home: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Not given: `npm start` brings its own server. */
  readonly databaseUrl: string | undefined;
  /** `connectionOptions.address` not given: `npm start` brings its own server; elsewhere it is localhost:7233. */
  readonly temporal: {
    readonly connectionOptions: ClientConnectConfig['connectionOptions'];
    readonly namespace: string;
  };
  readonly temporalUiUrl: string | undefined;
  readonly apiKeys: readonly string[];
  readonly providers: ProviderConfig;
  /** `provider/model` of a run that names none. */
  readonly model: string;
  /** Where the engines are configured; not given when there is no such file. */
  readonly configFile: string | undefined;
  readonly workspaceRoot: string;
  readonly engineSlots: number;
  readonly controlSlots: number;
  /** So long a worker that is told to stop lets its steps end; then it hands them over. */
  readonly handoverSeconds: number;
  readonly logLevel: LogLevel;
  readonly buildId: string | undefined;
  readonly workflowBundlePath: string | undefined;
  readonly segmentCacheBytes: number;
  /** So many days after its run is complete it is removed; not given: it is kept for ever. */
  readonly retain: { readonly framesDays: number | undefined; readonly deliveriesDays: number | undefined };
  /** `host:port` pairs that the guard against fetching private addresses lets pass. */
  readonly fetchAllow: readonly string[];
  /** The ports that `npm start` takes when they are free. */
  readonly dev: { readonly postgresPort: number; readonly temporalPort: number; readonly temporalUiPort: number };
};

export type LogLevel = z.infer<typeof logLevel>;

const port = (fallback: number) => wholeNumber(0, 65_535, fallback, 'a port from 1 to 65535, or 0 for a free one');
const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
  error: 'must be fatal, error, warn, info, debug, trace or silent',
});
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' });
const modelName = z.string().regex(/^[^/\s]+\/\S+$/, 'must be provider/model, such as openai/gpt-5-mini');

const variables = z.object({
  TIDEMARK_HOME: z.string().default('.tidemark'),
  TIDEMARK_HOST: z
    .string()
    .regex(/^[^\s/]+$/, 'must be a host name or an address, without http://')
    .default('127.0.0.1'),
  TIDEMARK_PORT: port(4310),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be postgres://user:password@host:5432/database' })
    .optional(),
  TIDEMARK_TEMPORAL_UI_URL: httpUrl.optional(),
  TIDEMARK_API_KEYS: commaList(
    z.string().regex(/^[\x21-\x7e]+$/, 'must be keys of visible ASCII characters without spaces'),
  ),
  ...providerVariables,
  TIDEMARK_MODEL: modelName.optional(),
  TIDEMARK_CONFIG: z.string().optional(),
  TIDEMARK_WORKSPACES: z.string().optional(),
  TIDEMARK_ENGINE_SLOTS: wholeNumber(1, 10_000, 100, 'a whole number from 1 to 10000'),
  TIDEMARK_CONTROL_SLOTS: wholeNumber(1, 10_000, 100, 'a whole number from 1 to 10000'),
  TIDEMARK_HANDOVER_SECONDS: wholeNumber(0, 40, 20, 'a whole number of seconds from 0 to 40'),
  TIDEMARK_LOG_LEVEL: logLevel.default('info'),
  TIDEMARK_BUILD_ID: z.string().optional(),
  TIDEMARK_WORKFLOW_BUNDLE: z.string().optional(),
  TIDEMARK_SEGMENT_CACHE_BYTES: wholeNumber(0, 2 ** 40, 256 * 1024 * 1024, 'a number of bytes'),
  TIDEMARK_RETAIN_FRAMES_DAYS: days(),
  TIDEMARK_RETAIN_DELIVERIES_DAYS: days(),
  TIDEMARK_FETCH_ALLOW: commaList(z.string().regex(/^\S+:\d{1,5}$/, 'must be host:port entries')),
  TIDEMARK_POSTGRES_PORT: port(54_310),
  TIDEMARK_TEMPORAL_PORT: port(7233),
  TIDEMARK_TEMPORAL_UI_PORT: port(8233),
});

/**
 * Reads every setting once, at a process's entry.
 *
 * **Contract:** a variable that is empty counts as not given; each one that cannot be used is a line of the `ConfigError`,
 * which never shows the value of a secret.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const given = withoutEmpty(env);
  const parsed = variables.safeParse(given);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map((issue) => issueLine(issue, given)));
  const set = parsed.data;
  const home = resolve(set.TIDEMARK_HOME);
  const providers = providersFrom(set);
  return {
    home,
    host: set.TIDEMARK_HOST,
    port: set.TIDEMARK_PORT,
    databaseUrl: set.DATABASE_URL,
    temporal: temporalFrom(given),
    temporalUiUrl: set.TIDEMARK_TEMPORAL_UI_URL?.replace(/\/+$/, ''),
    apiKeys: set.TIDEMARK_API_KEYS,
    providers,
    model: set.TIDEMARK_MODEL ?? defaultModel(providers),
    configFile: configFileFrom(set.TIDEMARK_CONFIG),
    workspaceRoot: resolve(set.TIDEMARK_WORKSPACES ?? `${home}/workspaces`),
    engineSlots: set.TIDEMARK_ENGINE_SLOTS,
    controlSlots: set.TIDEMARK_CONTROL_SLOTS,
    handoverSeconds: set.TIDEMARK_HANDOVER_SECONDS,
    logLevel: set.TIDEMARK_LOG_LEVEL,
    buildId: set.TIDEMARK_BUILD_ID,
    workflowBundlePath: set.TIDEMARK_WORKFLOW_BUNDLE && resolve(set.TIDEMARK_WORKFLOW_BUNDLE),
    segmentCacheBytes: set.TIDEMARK_SEGMENT_CACHE_BYTES,
    retain: { framesDays: set.TIDEMARK_RETAIN_FRAMES_DAYS, deliveriesDays: set.TIDEMARK_RETAIN_DELIVERIES_DAYS },
    fetchAllow: set.TIDEMARK_FETCH_ALLOW.map((entry) => entry.toLowerCase()),
    dev: {
      postgresPort: set.TIDEMARK_POSTGRES_PORT,
      temporalPort: set.TIDEMARK_TEMPORAL_PORT,
      temporalUiPort: set.TIDEMARK_TEMPORAL_UI_PORT,
    },
  };
}

/** Tests only: the crash point at which this process ends itself (`crash-point.ts`). */
export const crashAt = process.env['TIDEMARK_CRASH_AT'];

/** What may be printed: of every secret only that it is there, under names that the log does not blot out. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { databaseUrl, temporal, apiKeys, providers, ...rest } = config;
  const { address, apiKey, tls } = temporal.connectionOptions;
  return {
    ...rest,
    database: databaseUrl && withoutPassword(databaseUrl),
    temporal: {
      address: address ?? 'localhost:7233',
      namespace: temporal.namespace,
      tls: Boolean(tls),
      hasKey: apiKey !== undefined,
    },
    keys: apiKeys.length,
    providers: Object.fromEntries(Object.entries(providers).map(([name, server]) => [name, shownServer(server)])),
  };
}

/** Refuses to serve without a key where others could reach it. */
export function assertSafeBinding(config: Pick<Config, 'apiKeys' | 'host'>): void {
  if (config.apiKeys.length > 0 || isLoopback(config.host)) return;
  throw new ConfigError([
    `TIDEMARK_HOST is ${config.host}, which others can reach, and no API key is set: ` +
      'set TIDEMARK_API_KEYS to one or more keys, or TIDEMARK_HOST to 127.0.0.1.',
  ]);
}

/** The environment for a child process: this one with changes, where `undefined` removes. */
export function inheritedEnv(changes: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries({ ...process.env, ...changes }).filter(([, value]) => value !== undefined));
}

/** This process's environment, for what hands chosen parts of it on. */
export function hostEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** A URL as it may be shown. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password) shown.password = '***';
  if (shown.searchParams.has('password')) shown.searchParams.set('password', '***');
  return shown.href;
}

const DEFAULT_CONFIG_FILE = join(import.meta.dirname, '..', 'tidemark.config.ts');
const SECRET_VARIABLES = /KEY|DATABASE_URL|BASE_URL/;

function wholeNumber(min: number, max: number, fallback: number, what: string) {
  const error = `must be ${what}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error }).default(fallback);
}

/** A number of days that may be left out; 0 would take what a reader has not seen yet. */
function days() {
  const error = 'must be a whole number of days from 1 to 36500';
  return z.coerce.number({ error }).int({ error }).min(1, { error }).max(36_500, { error }).optional();
}

function commaList(item: z.ZodType<string, string>) {
  return z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
    .pipe(z.array(item));
}

function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  const given = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]?.trim()));
  return Object.fromEntries(given.map(([name, value]) => [name, value.trim()]));
}

function issueLine(issue: z.core.$ZodIssue, given: Record<string, string>): string {
  const name = String(issue.path[0]);
  const value = SECRET_VARIABLES.test(name) ? '' : ` is ${JSON.stringify(given[name])}, but it`;
  return `${name}${value} ${issue.message}. Correct it, or unset it.`;
}

/** The file that is named must be there; the one beside package.json may be. */
function configFileFrom(named: string | undefined): string | undefined {
  const file = named === undefined ? DEFAULT_CONFIG_FILE : resolve(named);
  if (existsSync(file)) return file;
  if (named === undefined) return undefined;
  throw new ConfigError([
    `TIDEMARK_CONFIG is ${JSON.stringify(named)}, but there is no such file. Correct it, or unset it.`,
  ]);
}

/** A provider as it may be shown: where its key comes from, never the key. */
function shownServer(server: ProviderConfig[keyof ProviderConfig]): Record<string, unknown> | undefined {
  if (server === undefined) return undefined;
  const { key, baseUrl, model } = server;
  return { credential: key.kind, baseUrl: baseUrl && withoutPassword(baseUrl), model };
}

function temporalFrom(env: Record<string, string>): Config['temporal'] {
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: env });
    return { connectionOptions, namespace: namespace ?? 'default' };
  } catch (error) {
    const [reason] = (error as Error).message.split('\n'); // what follows quotes the file, which may hold a key
    throw new ConfigError([
      `Temporal's connection settings (TEMPORAL_* variables or its TOML file) cannot be used: ${reason}. ` +
        'Correct them, or unset them for a server at localhost:7233.',
    ]);
  }
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  if (name.toLowerCase() === 'localhost') return true;
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback';
}

/**
 * The database that a gateway or a worker needs.
 *
 * @throws ConfigError when none is configured; `npm start` brings its own.
 */
export function requireDatabaseUrl(config: Pick<Config, 'databaseUrl'>): string {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  throw new ConfigError([
    'DATABASE_URL is not set: give the address of a PostgreSQL server, or run `npm start`, which brings one',
  ]);
}

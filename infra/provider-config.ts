import { resolve } from 'node:path';
import { z } from 'zod';

/** Where a provider's key is found; the key itself is read at each call. */
export type KeySource =
  /** `isOptional`: a server of one's own may ask for none. */
  | { readonly kind: 'environment'; readonly variable: string; readonly isOptional: boolean }
  | { readonly kind: 'file'; readonly path: string }
  /** An auth backend that an extension registers. */
  | { readonly kind: 'backend'; readonly name: string }
  | { readonly kind: 'oauth'; readonly tokenFile: string; readonly tokenUrl: string; readonly clientId: string };

interface ServerConfig {
  readonly key: KeySource;
  /** Not given: the vendor's own. */
  readonly baseUrl: string | undefined;
  /** The model of a run that names none, where this is the provider. */
  readonly model: string;
}

/** A provider that is not configured is not given. */
export interface ProviderConfig {
  readonly openai: (ServerConfig & { readonly api: 'completions' | 'responses' }) | undefined;
  readonly anthropic: (ServerConfig & { readonly thinking: 'adaptive' | number | undefined }) | undefined;
  readonly openaiCodex: ServerConfig | undefined;
}

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' });
const thinking = z
  .string()
  .refine((text) => text === 'adaptive' || (/^\d+$/.test(text) && Number(text) >= 1_024), {
    error: 'must be adaptive, or a number of tokens from 1024',
  })
  .transform((text) => (text === 'adaptive' ? 'adaptive' : Number(text)));

/** The variables of all providers. */
export const providerVariables = {
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_API_KEY_FILE: z.string().optional(),
  OPENAI_AUTH_BACKEND: z.string().min(1).optional(),
  OPENAI_BASE_URL: httpUrl.optional(),
  OPENAI_MODEL: z.string().optional(),
  OPENAI_API: z
    .enum(['completions', 'responses'], { error: 'must be completions or responses' })
    .default('completions'),
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_API_KEY_FILE: z.string().optional(),
  ANTHROPIC_AUTH_BACKEND: z.string().min(1).optional(),
  ANTHROPIC_BASE_URL: httpUrl.optional(),
  ANTHROPIC_MODEL: z.string().optional(),
  ANTHROPIC_THINKING: thinking.optional(),
  OPENAI_CODEX_API_KEY: z.string().optional(),
  OPENAI_CODEX_AUTH_BACKEND: z.string().min(1).optional(),
  OPENAI_CODEX_TOKEN_FILE: z.string().optional(),
  OPENAI_CODEX_TOKEN_URL: httpUrl.default('https://auth.openai.com/oauth/token'),
  OPENAI_CODEX_CLIENT_ID: z.string().default('app_EMoamEEZ73f0CkXaXp7hrann'),
  OPENAI_CODEX_BASE_URL: httpUrl.optional(),
  OPENAI_CODEX_MODEL: z.string().optional(),
};

type Variables = z.infer<z.ZodObject<typeof providerVariables>>;

/** The providers that the variables name: a key, a file with one, or an address is enough. */
export function providersFrom(set: Variables): ProviderConfig {
  return { openai: openaiFrom(set), anthropic: anthropicFrom(set), openaiCodex: codexFrom(set) };
}

/** `provider/model` of a run that names none: of the first provider that is configured, or the demo model. */
export function defaultModel({ openai, anthropic, openaiCodex }: ProviderConfig): string {
  if (openai !== undefined) return `openai/${openai.model}`;
  if (anthropic !== undefined) return `anthropic/${anthropic.model}`;
  return openaiCodex === undefined ? 'scripted/demo' : `openai-codex/${openaiCodex.model}`;
}

/** The names before the slash of the models that are offered. */
export function providerNames({ openai, anthropic, openaiCodex }: ProviderConfig): string[] {
  return [
    ...(openai === undefined ? [] : ['openai']),
    ...(anthropic === undefined ? [] : ['anthropic']),
    ...(openaiCodex === undefined ? [] : ['openai-codex']),
  ];
}

function openaiFrom(set: Variables): ProviderConfig['openai'] {
  const baseUrl = set.OPENAI_BASE_URL;
  const key = keySource('OPENAI_API_KEY', {
    backend: set.OPENAI_AUTH_BACKEND,
    key: set.OPENAI_API_KEY,
    file: set.OPENAI_API_KEY_FILE,
    baseUrl,
  });
  return key && { key, baseUrl, model: set.OPENAI_MODEL ?? 'gpt-5-mini', api: set.OPENAI_API };
}

function anthropicFrom(set: Variables): ProviderConfig['anthropic'] {
  const baseUrl = set.ANTHROPIC_BASE_URL;
  const given = {
    backend: set.ANTHROPIC_AUTH_BACKEND,
    key: set.ANTHROPIC_API_KEY,
    file: set.ANTHROPIC_API_KEY_FILE,
    baseUrl,
  };
  const key = keySource('ANTHROPIC_API_KEY', given);
  return key && { key, baseUrl, model: set.ANTHROPIC_MODEL ?? 'claude-sonnet-5-5', thinking: set.ANTHROPIC_THINKING };
}

function codexFrom(set: Variables): ProviderConfig['openaiCodex'] {
  const baseUrl = set.OPENAI_CODEX_BASE_URL;
  const tokenFile = set.OPENAI_CODEX_TOKEN_FILE;
  const key: KeySource | undefined =
    tokenFile === undefined
      ? keySource('OPENAI_CODEX_API_KEY', {
          backend: set.OPENAI_CODEX_AUTH_BACKEND,
          key: set.OPENAI_CODEX_API_KEY,
          file: undefined,
          baseUrl,
        })
      : {
          kind: 'oauth',
          tokenFile: resolve(tokenFile),
          tokenUrl: set.OPENAI_CODEX_TOKEN_URL,
          clientId: set.OPENAI_CODEX_CLIENT_ID,
        };
  return key && { key, baseUrl, model: set.OPENAI_CODEX_MODEL ?? 'gpt-5.1-codex' };
}

/** A backend wins over a file, and a file over a variable: both can give another key while the worker runs. */
function keySource(
  variable: string,
  given: {
    backend: string | undefined;
    key: string | undefined;
    file: string | undefined;
    baseUrl: string | undefined;
  },
): KeySource | undefined {
  if (given.backend !== undefined) return { kind: 'backend', name: given.backend };
  if (given.file !== undefined) return { kind: 'file', path: resolve(given.file) };
  if (given.key === undefined && given.baseUrl === undefined) return undefined;
  return { kind: 'environment', variable, isOptional: given.baseUrl !== undefined };
}

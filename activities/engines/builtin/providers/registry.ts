import { TidemarkError } from '../../../../contract/errors.ts';
import { SCRIPTED_MODELS } from '../../../../contract/scripted-models.ts';
import type { AuthBackend } from '../auth/auth-backend.ts';
import type { Thinking } from './anthropic-request.ts';
import type { Provider } from './provider.ts';
import { createScripted } from './scripted.ts';

export interface ServerSettings {
  readonly auth: AuthBackend;
  readonly baseUrl?: string | undefined;
}

/** A provider without settings is not configured. */
export interface ProviderSettings {
  readonly openai?: (ServerSettings & { readonly api: 'completions' | 'responses' }) | undefined;
  readonly anthropic?: (ServerSettings & { readonly thinking?: Thinking }) | undefined;
  readonly openaiCodex?: ServerSettings | undefined;
  /** Multiplies the demo model's delays; tests take 0. */
  readonly scriptedPace?: number;
}

export interface Providers {
  /**
   * The provider of a model named `provider/model`.
   *
   * @throws TidemarkError `unknown_model` or `model_not_configured`, with a remedy that names what there is.
   */
  resolve(name: string): { readonly provider: Provider; readonly model: string };
}

/** What to set on the worker for the models of each provider. */
const CONFIGURED_BY: Readonly<Record<string, string>> = {
  openai: 'OPENAI_API_KEY, OPENAI_API_KEY_FILE (or OPENAI_BASE_URL for a server that asks for none)',
  anthropic: 'ANTHROPIC_API_KEY or ANTHROPIC_API_KEY_FILE',
  'openai-codex': 'OPENAI_CODEX_TOKEN_FILE or OPENAI_CODEX_API_KEY',
};

/** `registered`: the provider that an extension has registered under a name; it wins. */
export async function createProviders(
  settings: ProviderSettings,
  registered: (name: string) => Provider | undefined = () => undefined,
): Promise<Providers> {
  const scripted = createScripted(settings.scriptedPace === undefined ? {} : { pace: settings.scriptedPace });
  const served = new Map((await serversOf(settings)).map((provider) => [provider.name, provider]));
  const known = [
    ...[...served.keys()].map((name) => `${name}/<model>`),
    ...scriptedModels().map((model) => `scripted/${model}`),
  ];
  const remedy = `Use one of: ${known.join(', ')}.`;
  return {
    resolve(name) {
      const slash = name.indexOf('/');
      const [providerName, model] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
      const provider = registered(providerName) ?? served.get(providerName);
      if (provider !== undefined && model !== '') return { provider, model };
      if (Object.hasOwn(CONFIGURED_BY, providerName) && model !== '') {
        throw new TidemarkError(
          'model_not_configured',
          `the model ${name} needs a provider that is not configured`,
          `Set ${CONFIGURED_BY[providerName] ?? ''} on the worker. ${remedy}`,
        );
      }
      if (providerName === 'scripted' && scriptedModels().includes(model)) return { provider: scripted, model };
      throw new TidemarkError('unknown_model', `there is no model ${JSON.stringify(name.slice(0, 200))}`, remedy);
    },
  };
}

/** The names of the demo model's scenarios. */
export function scriptedModels(): readonly string[] {
  return SCRIPTED_MODELS;
}

/** A vendor's SDK is loaded only where it is used: with all of them a worker would take half as long again to start. */
async function serversOf({ openai, anthropic, openaiCodex }: ProviderSettings): Promise<Provider[]> {
  const servers: Provider[] = [];
  if (openai?.api === 'completions') {
    const { createOpenAICompletions } = await import('./openai-completions.ts');
    servers.push(createOpenAICompletions({ name: 'openai', ...openai }));
  } else if (openai !== undefined) {
    const { createOpenAIResponses } = await import('./openai-responses.ts');
    servers.push(createOpenAIResponses({ name: 'openai', ...openai }));
  }
  if (anthropic !== undefined) {
    const { createAnthropicMessages } = await import('./anthropic-messages.ts');
    servers.push(createAnthropicMessages({ name: 'anthropic', ...anthropic }));
  }
  if (openaiCodex !== undefined) {
    const { createOpenAICodex } = await import('./openai-codex.ts');
    servers.push(createOpenAICodex({ name: 'openai-codex', ...openaiCodex }));
  }
  return servers;
}

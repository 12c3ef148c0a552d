import { TidemarkError } from '../../../../contract/errors.ts';
import { SCRIPTED_MODELS } from '../../../../contract/scripted-models.ts';
import { createOpenAICompletions } from './openai-completions.ts';
import type { Provider } from './provider.ts';
import { createScripted } from './scripted.ts';

export interface ProviderSettings {
  readonly openai?: { readonly apiKey: string; readonly baseUrl?: string | undefined } | undefined;
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

export function createProviders(settings: ProviderSettings): Providers {
  const scripted = createScripted(settings.scriptedPace === undefined ? {} : { pace: settings.scriptedPace });
  const openai = settings.openai && createOpenAICompletions({ name: 'openai', ...settings.openai });
  const known = [...(openai ? ['openai/<model>'] : []), ...scriptedModels().map((model) => `scripted/${model}`)];
  const remedy = `Use one of: ${known.join(', ')}.`;
  return {
    resolve(name) {
      const slash = name.indexOf('/');
      const [providerName, model] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
      if (providerName === 'openai' && model !== '') {
        if (openai !== undefined) return { provider: openai, model };
        throw new TidemarkError(
          'model_not_configured',
          `the model ${name} needs a provider that is not configured`,
          `Set OPENAI_API_KEY (or OPENAI_BASE_URL for a server that asks for none) on the worker. ${remedy}`,
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

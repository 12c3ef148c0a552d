import { ENGINE_NAMES, type EngineName } from '../contract/engines.ts';
import { TidemarkError } from '../contract/errors.ts';
import { SCRIPTED_MODELS } from '../contract/scripted-models.ts';
import type { Config } from '../infra/config.ts';

/** The engine and model of a run, defaults filled in, or why there is none such. */
export function chooseEngine(
  config: Pick<Config, 'model' | 'openai'>,
  wanted: { engine: string | undefined; model: string | undefined },
): { engine: EngineName; model: string } {
  const engine = ENGINE_NAMES.find((name) => name === (wanted.engine ?? 'builtin'));
  if (engine === undefined) {
    throw new TidemarkError(
      'unknown_engine',
      'there is no engine of that name',
      `Use one of: ${ENGINE_NAMES.join(', ')}.`,
      {
        facts: { field: 'engine', engines: ENGINE_NAMES },
      },
    );
  }
  const model = wanted.model ?? config.model;
  if (!isOffered(config, model)) {
    const models = offeredModels(config);
    throw new TidemarkError(
      'unknown_model',
      'there is no model of that name',
      `Use one of: ${models.join(', ')}.${hint(config)}`,
      {
        facts: { field: 'model', models },
      },
    );
  }
  return { engine, model };
}

/** The models that a run may name; a name that ends in `*` stands for whatever that provider serves. */
export function offeredModels(config: Pick<Config, 'openai'>): string[] {
  const scripted = SCRIPTED_MODELS.map((name) => `scripted/${name}`);
  return config.openai === undefined ? scripted : ['openai/*', ...scripted];
}

function isOffered(config: Pick<Config, 'openai'>, model: string): boolean {
  const [provider, ...rest] = model.split('/');
  const name = rest.join('/');
  if (provider === 'scripted') return SCRIPTED_MODELS.some((scripted) => scripted === name);
  return provider === 'openai' && config.openai !== undefined && /^[\w.:/@-]{1,150}$/.test(name);
}

function hint(config: Pick<Config, 'openai'>): string {
  return config.openai === undefined ? ' Set OPENAI_API_KEY (or OPENAI_BASE_URL) for openai/… models.' : '';
}

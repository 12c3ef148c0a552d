import { BUILTIN_ENGINE, ENGINE_MODEL_NAME, ENGINES_OWN_MODEL } from '../contract/engines.ts';
import { TidemarkError } from '../contract/errors.ts';
import { SCRIPTED_MODELS } from '../contract/scripted-models.ts';
import type { Config } from '../infra/config.ts';
import { providerNames } from '../infra/provider-config.ts';
import type { ConfiguredEngines } from '../infra/tidemark-config.ts';

/** What a gateway knows of engines and models. */
export interface Offer {
  readonly config: Pick<Config, 'model' | 'providers'>;
  readonly engines: ConfiguredEngines;
  /** Providers that the workers' extensions have registered. */
  readonly extensionProviders?: readonly string[];
}

/** The engine and model of a run, defaults filled in, or why there is none such. */
export function chooseEngine(
  { config, engines, extensionProviders = [] }: Offer,
  wanted: { engine: string | undefined; model: string | undefined },
): { engine: string; model: string } {
  const engine = wanted.engine ?? BUILTIN_ENGINE;
  if (engine === BUILTIN_ENGINE) {
    return { engine, model: builtinModel(config, extensionProviders, wanted.model ?? config.model) };
  }
  if (!engines.has(engine)) {
    const names = offeredEngines(engines);
    throw new TidemarkError('unknown_engine', 'there is no engine of that name', `Use one of: ${names.join(', ')}.`, {
      facts: { field: 'engine', engines: names },
    });
  }
  return { engine, model: engineModel(wanted.model) };
}

/** The engines that a run may name. */
export function offeredEngines(engines: ConfiguredEngines): string[] {
  return [BUILTIN_ENGINE, ...engines.keys()];
}

/** The built-in engine's models; a name that ends in `*` stands for whatever that provider serves. */
export function offeredModels(config: Pick<Config, 'providers'>, extensionProviders: readonly string[] = []): string[] {
  const scripted = SCRIPTED_MODELS.map((name) => `scripted/${name}`);
  return [...[...providerNames(config.providers), ...extensionProviders].map((name) => `${name}/*`), ...scripted];
}

function builtinModel(config: Pick<Config, 'providers'>, extensionProviders: readonly string[], model: string): string {
  const [provider = ''] = model.split('/', 1);
  const isOfExtension =
    extensionProviders.includes(provider) && ENGINE_MODEL_NAME.test(model.slice(provider.length + 1));
  if (isOfExtension || isOffered(config, model)) return model;
  const models = offeredModels(config, extensionProviders);
  throw new TidemarkError(
    'unknown_model',
    'there is no model of that name',
    `Use one of: ${models.join(', ')}.${hint(config)}`,
    { facts: { field: 'model', models } },
  );
}

/** An engine with a loop of its own knows its models by itself: only the form of the name is looked at. */
function engineModel(model: string | undefined): string {
  if (model === undefined) return ENGINES_OWN_MODEL;
  if (ENGINE_MODEL_NAME.test(model)) return model;
  throw new TidemarkError(
    'unknown_model',
    'that cannot be the name of a model',
    'Use a name that the engine knows, of letters, digits and _ . : / @ -, 150 at most, or leave it out.',
    { facts: { field: 'model' } },
  );
}

function isOffered(config: Pick<Config, 'providers'>, model: string): boolean {
  const [provider = '', ...rest] = model.split('/');
  const name = rest.join('/');
  if (provider === 'scripted') return SCRIPTED_MODELS.some((scripted) => scripted === name);
  return providerNames(config.providers).includes(provider) && ENGINE_MODEL_NAME.test(name);
}

/** What would offer more. */
function hint({ providers }: Pick<Config, 'providers'>): string {
  const missing = [
    ...(providers.openai === undefined ? ['OPENAI_API_KEY (or OPENAI_BASE_URL) for openai/…'] : []),
    ...(providers.anthropic === undefined ? ['ANTHROPIC_API_KEY for anthropic/…'] : []),
  ];
  return missing.length === 0 ? '' : ` Set ${missing.join(', ')} models.`;
}

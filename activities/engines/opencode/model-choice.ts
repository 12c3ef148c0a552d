import { TidemarkError } from '../../../contract/errors.ts';

/** A model as a prompt names it. */
export interface ModelChoice {
  readonly providerID: string;
  readonly modelID: string;
}

/**
 * A model's name as OpenCode's own configuration writes it: the provider, a slash, the model, which may have slashes of its own.
 *
 * @throws TidemarkError `unknown_model` for a name without a provider.
 */
export function modelChoice(model: string): ModelChoice {
  const slash = model.indexOf('/');
  if (slash > 0 && slash < model.length - 1)
    return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) };
  throw new TidemarkError(
    'unknown_model',
    `OpenCode has no model ${model}: its models are named with their provider`,
    'Name it as `opencode models` lists it, such as anthropic/claude-sonnet-4-5.',
  );
}

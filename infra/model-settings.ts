import { z } from 'zod';

const tokens = z.int().min(256).max(100_000_000);
/** US dollars for a million tokens. */
const usd = z.number().nonnegative().max(1_000_000);

/** What a model costs. What a cache gives or takes costs as much as other input, where it is not said. */
export const ModelPrice = z.strictObject({
  inputPerMillion: usd,
  outputPerMillion: usd,
  cacheReadPerMillion: usd.optional(),
  cacheWritePerMillion: usd.optional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** What `tidemark.config.ts` says of a model. */
export const ModelSettings = z.strictObject({
  /** Prompt and answer together, at most. */
  contextTokens: tokens.optional(),
  /** Of one answer, at most. */
  maxOutputTokens: tokens.optional(),
  price: ModelPrice.optional(),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

/** Stands for every model, where a model's own entry says nothing. */
export const ANY_MODEL = '*';

export const ModelName = z
  .string()
  .refine(
    (name) => name === ANY_MODEL || /^[^/\s]+\/\S+$/.test(name),
    'must be provider/model, or "*" for every model',
  );

/** The settings of models, by `provider/model`. */
export type ConfiguredModels = ReadonlyMap<string, ModelSettings>;

/** What is said of a model: its own entry over that of every model. */
export function settingsOfModel(models: ConfiguredModels, name: string): ModelSettings {
  return { ...models.get(ANY_MODEL), ...models.get(name) };
}

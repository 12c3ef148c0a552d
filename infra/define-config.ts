import type { TidemarkConfigInput } from './tidemark-config.ts';

/** The types of a `tidemark.config.ts`, for its editor: `export default defineConfig({ engines: { … }, models: { … } })`. */
export function defineConfig(config: TidemarkConfigInput): TidemarkConfigInput {
  return config;
}

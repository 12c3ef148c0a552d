import type { ModelSettings } from '../../../../infra/model-settings.ts';

/** What one call of a model may take. */
export interface ContextWindow {
  /** Prompt and answer together. */
  readonly contextTokens: number;
  /** Whether the run or the configuration tells the size; else it is a guess by the model's name, and the provider knows better. */
  readonly isTold: boolean;
  readonly maxOutputTokens: number;
  /** A prompt over this is compacted before it is sent. */
  readonly compactOverTokens: number;
}

/** Of one answer, unless the configuration says otherwise (source facts C.4). */
const MAX_OUTPUT_TOKENS = 16_384;
const UNKNOWN_CONTEXT_TOKENS = 128_000;
/** What of the room for a prompt is used before the conversation is compacted: the count of a prompt is an estimate. */
const FULL_SHARE = 0.8;

/** The contexts of models by the beginning of their names; the first that fits counts. */
const KNOWN: readonly (readonly [RegExp, number])[] = [
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o|^gpt-4-turbo/, 128_000],
  [/^gpt-5/, 400_000],
  [/^o[134](-|$)/, 200_000],
  [/^claude-/, 200_000],
  [/^gemini-/, 1_048_576],
];

/** How much a call may take: what the run says, else the configuration, else what models of that name had. */
export function contextWindow(
  model: string,
  settings: ModelSettings,
  ofRun: { readonly context_tokens?: number },
): ContextWindow {
  const told = ofRun.context_tokens ?? settings.contextTokens;
  const contextTokens = told ?? KNOWN.find(([name]) => name.test(model))?.[1] ?? UNKNOWN_CONTEXT_TOKENS;
  // a small context is not all for the answer
  const maxOutputTokens = Math.min(settings.maxOutputTokens ?? MAX_OUTPUT_TOKENS, Math.floor(contextTokens / 2));
  return {
    contextTokens,
    isTold: told !== undefined,
    maxOutputTokens,
    compactOverTokens: Math.floor((contextTokens - maxOutputTokens) * FULL_SHARE),
  };
}

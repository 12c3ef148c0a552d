import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { ResultMessage, StreamEvent } from './claude-schema.ts';
import { NOTHING_USED, type ClaudeState, type Saying, type Used } from './translation-state.ts';

type Tokens = NonNullable<StreamEvent['usage']>;

/** What of a prompt was read, also from the cache. */
export function usedOf(tokens: Tokens | null | undefined): Used {
  if (tokens == null) return NOTHING_USED;
  const { input_tokens: fresh, cache_creation_input_tokens: kept, cache_read_input_tokens: cached } = tokens;
  return {
    inputTokens: fresh + kept + cached,
    cachedInputTokens: cached,
    outputTokens: tokens.output_tokens,
    costUsd: null,
  };
}

/** An answer of the model is counted with its end, which may tell of its prompt as well. */
export function answerCounted(state: ClaudeState, prompt: Used, tokens: Tokens | null | undefined): Saying {
  const end = usedOf(tokens);
  const round = sum(state.round, {
    ...end,
    inputTokens: Math.max(prompt.inputTokens, end.inputTokens),
    cachedInputTokens: Math.max(prompt.cachedInputTokens, end.cachedInputTokens),
  });
  const next = { ...state, round };
  return { state: next, bodies: tokens == null ? [] : usageOf(sum(state.used, round)) };
}

/**
 * A round is over. What it used is told with its result, that of sub-agents too, and stands in the place of what was counted.
 *
 * **Contract:** the program counts a session through all of its processes; only what belongs to this round is added.
 */
export function roundCounted(state: ClaudeState, result: ResultMessage): Saying {
  const models = Object.values(result.model_usage_since_last_result ?? {});
  const own = usedOf(result.usage);
  const round = models.reduce<Used>((total, model) => sum(total, usedByModel(model)), NOTHING_USED);
  const used = sum(state.used, models.length === 0 ? (isNothing(own) ? state.round : own) : round);
  return { state: { ...state, used, round: NOTHING_USED }, bodies: usageOf(used) };
}

type ModelUsage = NonNullable<ResultMessage['model_usage_since_last_result']>[string];

function usedByModel({
  inputTokens,
  cacheReadInputTokens,
  cacheCreationInputTokens,
  outputTokens,
  costUSD,
}: ModelUsage): Used {
  return {
    inputTokens: inputTokens + cacheReadInputTokens + cacheCreationInputTokens,
    cachedInputTokens: cacheReadInputTokens,
    outputTokens,
    costUsd: costUSD ?? null,
  };
}

function sum(one: Used, other: Used): Used {
  const costUsd = one.costUsd === null && other.costUsd === null ? null : (one.costUsd ?? 0) + (other.costUsd ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costUsd,
  };
}

function isNothing({ inputTokens, outputTokens }: Used): boolean {
  return inputTokens + outputTokens === 0;
}

function usageOf(used: Used): CanonicalBody[] {
  if (isNothing(used)) return [];
  const { costUsd, ...tokens } = used;
  return [{ kind: 'usage.updated', ...tokens, ...(costUsd === null ? {} : { costUsd }) }];
}

import type { LifecycleData } from '../lifecycle.ts';
import type { AgUiTokenUsage } from './ag-ui-events.ts';

type UsageData = LifecycleData<'usage.updated'>;

/** A usage event as the USAGE event shows it. What the provider did not say stays absent. */
export function usageValue(data: UsageData): AgUiTokenUsage & { cost?: number; currency?: string; final: boolean } {
  const { cost, currency, final } = data;
  const price = cost == null ? {} : { cost, ...(currency == null ? {} : { currency }) };
  return { ...tokensOf(data), ...price, final };
}

/** The tokens of one agent after a usage event: each report is a running total, so the newest replaces (canonical grammar). */
export function countUsage(before: AgUiTokenUsage, data: UsageData): AgUiTokenUsage {
  return { ...before, ...tokensOf(data) };
}

/** The run's usage: its own and its sub-agents' in one, since no provider is named. Null when nothing was counted. */
export function totalUsage(parts: readonly AgUiTokenUsage[]): AgUiTokenUsage | null {
  const total = parts.reduce(add, {});
  if (Object.keys(total).length === 0) return null;
  const { inputTokens, outputTokens } = total;
  const isWhole = inputTokens !== undefined && outputTokens !== undefined;
  return isWhole ? { ...total, totalTokens: bounded(inputTokens + outputTokens) } : total;
}

function tokensOf({ input_tokens, output_tokens, cached_input_tokens }: UsageData): AgUiTokenUsage {
  return {
    ...(input_tokens == null ? {} : { inputTokens: input_tokens }),
    ...(output_tokens == null ? {} : { outputTokens: output_tokens }),
    ...(cached_input_tokens == null ? {} : { cachedInputTokens: cached_input_tokens }),
  };
}

function add(a: AgUiTokenUsage, b: AgUiTokenUsage): AgUiTokenUsage {
  const sum: { -readonly [K in keyof AgUiTokenUsage]: AgUiTokenUsage[K] } = { ...a };
  for (const key of ['inputTokens', 'outputTokens', 'cachedInputTokens'] as const) {
    const more = b[key];
    if (more !== undefined) sum[key] = bounded((a[key] ?? 0) + more);
  }
  return sum;
}

function bounded(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}

/** What model calls have used. */
export interface Tokens {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
}

/** Both together; the same object where nothing was counted. */
export function withTokens(before: Tokens, more: Tokens): Tokens {
  const counted = Object.entries(more).filter((entry): entry is [keyof Tokens, number] => entry[1] !== undefined);
  if (counted.length === 0) return before;
  return { ...before, ...Object.fromEntries(counted.map(([name, tokens]) => [name, (before[name] ?? 0) + tokens])) };
}

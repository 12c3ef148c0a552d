/** The value below which `fraction` of the values lie; NaN of none. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** What is said of a set of latencies. */
export function spread(values: readonly number[]): { p50: number; p95: number; p99: number } {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95), p99: percentile(values, 0.99) };
}

/** Runs the variants in turn, A B C A B C …, so that the machine's moods meet them alike; what each gave, round by round. */
export async function interleave<Name extends string, T>(
  rounds: number,
  variants: Readonly<Record<Name, (round: number) => Promise<T>>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(variants) as Name[];
  const given = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) given[name].push(await variants[name](round));
  }
  return given;
}

/** The median of the ratios of values that were taken side by side. */
export function medianRatio(values: readonly number[], others: readonly number[]): number {
  return median(values.map((value, round) => value / (others[round] ?? NaN)));
}

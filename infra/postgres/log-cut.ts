/** Where in its thread's log a run's deliveries begin and end, and whether the policy lets them go. */
export interface RunSpan {
  readonly runId: string;
  readonly first: number;
  readonly last: number;
  readonly removable: boolean;
}

export interface LogCut {
  /** The log begins here after the cut. */
  readonly retainedFrom: number;
  /** The runs whose deliveries are gone then, each of them whole. */
  readonly runIds: readonly string[];
}

/**
 * Where a log is cut: before it lie only deliveries of runs that may go, and no run lies on both sides, so that a run is there
 * whole or not at all. Null when nothing may go.
 *
 * **Contract:** takes about `mostRows` deliveries; more only where a cut before that would split a run.
 */
export function cutOf(spans: readonly RunSpan[], mostRows: number): LogCut | null {
  const inOrder = spans.toSorted((a, b) => a.first - b.first);
  const begin = inOrder[0]?.first ?? 0;
  const runIds: string[] = [];
  let cut: LogCut | null = null;
  let last = 0;
  for (const [i, span] of inOrder.entries()) {
    if (!span.removable) return cut;
    runIds.push(span.runId);
    last = Math.max(last, span.last);
    const next = inOrder[i + 1];
    if (next !== undefined && next.first <= last) continue;
    if (cut !== null && last + 1 - begin > mostRows) return cut;
    cut = { retainedFrom: last + 1, runIds: [...runIds] };
  }
  return cut;
}

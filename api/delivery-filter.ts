import type { DeliveryRow } from '../infra/postgres/delivery.ts';

/** Which deliveries a reader wants to see; the others still move its cursor. */
export interface DeliveryFilter {
  /** Null: all of them. A completion record is no event: it is shown whatever the kinds. */
  readonly kinds: ReadonlySet<string> | null;
  readonly runId: string | null;
  /** Equal for filters that choose alike, so that what one subscriber is sent serves the others. */
  readonly key: string;
}

/** Null when nothing is filtered. */
export function deliveryFilter(kinds: readonly string[] | null, runId: string | null): DeliveryFilter | null {
  if (kinds === null && runId === null) return null;
  const wanted = kinds === null ? null : new Set(kinds.toSorted());
  return { kinds: wanted, runId, key: `${wanted === null ? '*' : [...wanted].join(',')} ${runId ?? '*'}` };
}

export function matches(filter: DeliveryFilter, row: Pick<DeliveryRow, 'record' | 'kind' | 'run_id'>): boolean {
  if (filter.runId !== null && row.run_id !== filter.runId) return false;
  return filter.kinds === null || row.record === 'complete' || filter.kinds.has(row.kind);
}

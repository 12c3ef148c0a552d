/**
 * A small table by id that forgets its oldest entries: plain JSON, and a list, because a stored object does not keep the
 * order of its keys. Ids come from outside, so no object is keyed by one.
 */
export type BoundedTable<T> = readonly (readonly [id: string, value: T])[];

export function entryOf<T>(table: BoundedTable<T>, id: string): T | undefined {
  return table.find(([key]) => key === id)?.[1];
}

/** The table with this entry as its newest, without the oldest beyond `limit`. */
export function withEntry<T>(table: BoundedTable<T>, id: string, value: T, limit: number): BoundedTable<T> {
  const rest = table.filter(([key]) => key !== id);
  return [...rest.slice(Math.max(0, rest.length - limit + 1)), [id, value]];
}

export function withoutEntry<T>(table: BoundedTable<T>, id: string): BoundedTable<T> {
  return table.filter(([key]) => key !== id);
}

/**
 * A map as plain JSON that is never changed in place: adding copies one small chunk, not the whole. For sets of ids that only
 * grow, inside states that a pure function takes and returns. A key is not looked at; give it a prefix, so that no key
 * is the name of something on an object's prototype.
 */
export type ChunkedMap<Value> = readonly Readonly<Record<string, Value>>[];

export const NO_ENTRIES: ChunkedMap<never> = [];
const CHUNK_ENTRIES = 64;

export function lookUp<Value>(map: ChunkedMap<Value>, key: string): Value | undefined {
  for (const chunk of map) {
    const value = chunk[key];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The map with a key set; a key that it has gets the new value. */
export function withEntry<Value>(map: ChunkedMap<Value>, key: string, value: Value): ChunkedMap<Value> {
  const held = map.findIndex((chunk) => chunk[key] !== undefined);
  if (held >= 0) return map.with(held, { ...map[held], [key]: value });
  const last = map.at(-1);
  if (last !== undefined && Object.keys(last).length < CHUNK_ENTRIES)
    return [...map.slice(0, -1), { ...last, [key]: value }];
  return [...map, { [key]: value }];
}

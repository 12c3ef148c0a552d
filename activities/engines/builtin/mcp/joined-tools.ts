import type { Tools } from '../tools/tool.ts';

/** Two sources of tools as one, also when they change: of one name the first one's is meant. */
export function joinedTools(first: Tools, second: Tools): Tools {
  return {
    get: (name) => first.get(name) ?? second.get(name),
    *values() {
      yield* first.values();
      yield* second.values();
    },
  };
}

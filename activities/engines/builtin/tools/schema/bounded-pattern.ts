import { createContext, Script } from 'node:vm';

/** A pattern that takes longer has gone astray: it is a server's, and runs on the worker's one thread. */
const WITHIN_MS = 50;

const match = new Script('pattern.test(text)');

/**
 * A server's `pattern` as a regular expression that cannot hold up the worker.
 *
 * **Contract:** one that is not of JavaScript accepts every text: the server checks its arguments too. One that takes too long
 * accepts none.
 */
export function boundedPattern(source: string): { test(text: string): boolean; toString(): string } {
  const pattern = readPattern(source);
  if (pattern === null) return { test: () => true, toString: () => source };
  return {
    toString: () => source,
    test(text) {
      try {
        return match.runInContext(createContext({ pattern, text }), { timeout: WITHIN_MS }) === true;
      } catch {
        return false;
      }
    },
  };
}

function readPattern(source: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {
      // written for another engine
    }
  }
  return null;
}

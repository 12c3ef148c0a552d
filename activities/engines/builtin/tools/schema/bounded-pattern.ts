import { createContext, Script } from 'node:vm';

/**
 * A pattern that takes longer has gone astray: it is a server's, and runs on the worker's one thread. It gets the second time too,
 * until it went astray once: a busy machine can keep a thread from running for longer than the first.
 */
const WITHIN_MS = [50, 1_000] as const;

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
  let wentAstray = false;
  return {
    toString: () => source,
    test(text) {
      const context = createContext({ pattern, text });
      for (const timeout of wentAstray ? WITHIN_MS.slice(0, 1) : WITHIN_MS) {
        try {
          return match.runInContext(context, { timeout }) === true;
        } catch {
          // cut off
        }
      }
      wentAstray = true;
      return false;
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

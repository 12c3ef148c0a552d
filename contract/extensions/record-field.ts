import { z } from 'zod';

/** The fields that records of extensions are made of; each fault says what is there to be mended. */
function needs(what: string): { error: (issue: { readonly input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? `is missing: it must be ${what}` : `must be ${what}`) };
}

/** A method. What it takes and gives is its type's: nothing else can be known of a function. */
export const method = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
  needs('a function'),
);
export const line = z.string(needs('a string'));
export const name = line.min(1, 'must not be empty').max(200, 'must be 200 characters at most');
export const flag = z.boolean(needs('true or false'));
export const order = z.number(needs('a number'));
/** A JSON Schema of an object. */
export const objectSchema = z.looseObject(
  { type: z.literal('object', { error: 'must be "object": arguments have names' }) },
  needs('a JSON Schema of an object'),
);

/** The names that providers accept for a tool. */
export const toolName = name.regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be of letters, digits, "_" and "-", 64 at most');

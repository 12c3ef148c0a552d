const MAX_DEPTH = 64;

/** A tool call's arguments as read from the wire. */
export interface ReadArguments {
  readonly arguments: Record<string, unknown>;
  readonly argumentsError?: string;
}

/**
 * Reads the JSON text of a tool call's arguments.
 *
 * **Contract:** never throws. No text at all is an empty object. What is not a JSON object, is nested over 64 levels deep or
 * holds a number that JSON cannot say again gives empty arguments and an `argumentsError` that the model can act on.
 */
export function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { arguments: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return { arguments: {} };
    if (typeof value !== 'object' || Array.isArray(value)) return refused('they must be a JSON object');
    return { arguments: tidy(value, 0) as Record<string, unknown> };
  } catch (error) {
    return refused(error instanceof ArgumentsFault ? error.message : 'they are not valid JSON');
  }
}

/** Whether a text is a whole JSON object, so that more of it can only belong to another call. */
export function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function refused(reason: string): ReadArguments {
  return { arguments: {}, argumentsError: `the arguments could not be read: ${reason}` };
}

class ArgumentsFault extends Error {}

/** A string that every store takes: well-formed, and U+FFFD where there was a NUL, which PostgreSQL's text refuses. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** The same value in what every store and digest after this can say again. */
function tidy(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new ArgumentsFault(`they are nested over ${String(MAX_DEPTH)} levels deep`);
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new ArgumentsFault('a number is out of range');
  if (Array.isArray(value)) return value.map((item) => tidy(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storable(key), tidy(item, depth + 1)] as const),
  );
}

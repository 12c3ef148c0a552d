import { z } from 'zod';

/** A JSON object with every key that it came with: a record of zod's would leave out `__proto__` without a word. */
export const JsonObject = z.custom<Record<string, unknown>>(isJsonObject, 'is no JSON object');

/** A text as a JSON object; null for what is no JSON, and for JSON of another kind. */
export function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

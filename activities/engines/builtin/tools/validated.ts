import type { z } from 'zod';

/** A call's arguments as a tool takes them, or the result that says what is wrong with them. */
export type Validated =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly kind: 'invalid-arguments' | 'invalid-tool-schema'; readonly error: string };

/** Checks arguments by a tool's schema; the error tells the model which field is at fault. */
export function validateBy(schema: z.ZodType, toolName: string, args: unknown): Validated {
  const parsed = schema.safeParse(args);
  if (parsed.success) return { ok: true, args: parsed.data as Readonly<Record<string, unknown>> };
  return invalidArguments(
    toolName,
    parsed.error.issues.map((issue) => `${fieldOf(issue)} ${issue.message}`),
  );
}

/** The first few faults, each a field and what is wrong with it (source facts, C.3). */
export function invalidArguments(toolName: string, faults: readonly string[]): Validated {
  const error = `error: invalid arguments for ${toolName}: ${faults.slice(0, 5).join('; ')}`;
  return { ok: false, kind: 'invalid-arguments', error };
}

function fieldOf(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String);
  if (path.length > 0) return path.join('.');
  return issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : 'arguments';
}

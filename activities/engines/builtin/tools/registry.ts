import type { z } from 'zod';
import { askUser } from './ask-user.ts';
import { delegate } from './delegate.ts';
import { createFetchUrl } from './fetch-url.ts';
import { listFiles } from './list-files.ts';
import type { Lookup } from './public-address.ts';
import { readFile } from './read-file.ts';
import type { BuiltinTool } from './tool.ts';
import { writeFile } from './write-file.ts';

/** The built-in tools by name, in the order in which a model is told of them. */
export function builtinTools(options: { readonly lookup?: Lookup } = {}): ReadonlyMap<string, BuiltinTool> {
  const tools = [listFiles, readFile, writeFile, createFetchUrl(options.lookup), askUser, delegate];
  return new Map(tools.map((tool) => [tool.name, tool]));
}

export type Validated =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: string };

/** Checks a call's arguments; the error is a tool result that tells the model which field is at fault. */
export function validateArguments(tool: BuiltinTool, args: unknown): Validated {
  const parsed = tool.schema.safeParse(args);
  if (parsed.success) return { ok: true, args: parsed.data as Readonly<Record<string, unknown>> };
  const faults = parsed.error.issues.slice(0, 5).map((issue) => `${fieldOf(issue)} ${issue.message}`);
  return { ok: false, error: `error: invalid arguments for ${tool.name}: ${faults.join('; ')}` };
}

function fieldOf(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String);
  if (path.length > 0) return path.join('.');
  return issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : 'arguments';
}

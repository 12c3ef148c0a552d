import { visible } from './visible.ts';
import { TidemarkApiError } from '../typescript/api-error.ts';
import type { Streams } from './streams.ts';
import { USAGE, UsageError } from './usage.ts';

/** What a command gives: its JSON document, and the lines that say the same to a person. */
export interface Report {
  readonly document: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
  readonly exitCode?: number;
}

export function writeReport({ output }: Streams, { document, lines }: Report, isJson: boolean): void {
  if (isJson) output.write(`${JSON.stringify({ ok: true, ...document })}\n`);
  else for (const line of lines) output.write(`${visible(line)}\n`);
}

/** Says what went wrong and what to do, and gives the exit code. */
export function writeFailure({ output, errors }: Streams, error: unknown, isJson: boolean): number {
  const { code, message, remedy } = failureOf(error);
  if (isJson) output.write(`${JSON.stringify({ ok: false, error: { code, message, remedy } })}\n`);
  else errors.write(`${visible(`${message}\n${remedy}`)}\n`);
  return error instanceof UsageError ? 2 : 1;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** @throws what is no failure of a request or of its call: a mistake of this program. */
export function failureOf(error: unknown): Failure {
  if (error instanceof TidemarkApiError) return error;
  if (error instanceof UsageError) return { code: 'invalid_invocation', message: error.message, remedy: USAGE };
  throw error;
}

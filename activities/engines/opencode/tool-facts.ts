import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import type { Part } from './opencode-schema.ts';

const TITLE_CHARS = 300;

/** The field of a tool's input that names what it is about. */
const TITLE_FIELDS = ['command', 'filePath', 'pattern', 'url', 'query', 'description', 'name', 'path'] as const;

/** What a tool's call is about, in a line; empty where its name says all. */
export function titleOf(input: Readonly<Record<string, unknown>>, title = ''): string {
  const named = TITLE_FIELDS.map((field) => input[field]).find((value) => typeof value === 'string' && value !== '');
  return previewText(typeof named === 'string' ? named : title, TITLE_CHARS);
}

/** Why a tool's call did not go well; null for one that did. A command that was stopped has no exit code, and is told as completed. */
export function faultOf({ tool, state }: Part): string | null {
  if (state.status === 'error')
    return state.error === '' ? 'the tool failed' : previewText(state.error, PREVIEW_LIMIT_CHARS);
  const exit = state.metadata?.exit;
  if (tool !== 'bash' || exit === undefined || exit === 0) return null;
  return exit === null ? 'it was stopped' : `exit code ${String(exit)}`;
}

/** So long it took, by the engine's clock: one clock at both ends. */
export function durationOf({ state: { time } }: Part): { durationMs?: number } {
  if (time.start == null || time.end == null) return {};
  return { durationMs: Math.max(0, time.end - time.start) };
}

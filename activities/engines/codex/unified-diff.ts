import { createTwoFilesPatch } from 'diff';
import type { FileChange } from './file-changes.ts';

/**
 * A change as a unified diff with its header. Codex itself gives the hunks of a file that was edited, and of one that was added or
 * deleted the text alone.
 */
export function unifiedDiff({ path, changeType, diff, isText }: FileChange): string {
  const [from, to] = [`a/${path}`, `b/${path}`];
  if (!isText) return diff.startsWith('@@') ? `--- ${from}\n+++ ${to}\n${diff}` : diff;
  return changeType === 'delete' ? createTwoFilesPatch(from, to, diff, '') : createTwoFilesPatch(from, to, '', diff);
}

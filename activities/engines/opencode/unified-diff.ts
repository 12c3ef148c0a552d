import type { FileChange } from './file-changes.ts';

const HUNKS = /^@@ /m;

/**
 * A change as a unified diff whose header has its path as it is in the workspace. The engine's own names the file by its place on the
 * machine. Empty where the engine gives no hunks.
 */
export function unifiedDiff({ path, changeType, patch }: FileChange): string {
  const at = HUNKS.exec(patch)?.index;
  if (at === undefined) return '';
  const from = changeType === 'create' ? '/dev/null' : `a/${path}`;
  const to = changeType === 'delete' ? '/dev/null' : `b/${path}`;
  return `--- ${from}\n+++ ${to}\n${patch.slice(at)}`;
}

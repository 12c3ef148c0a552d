import type { CanonicalBody } from '../../../contract/canonical.ts';
import { FileResult, type Kept } from './claude-schema.ts';

/** What a tool did to a file; `null` when its result is not about one. */
export function fileChangeOf(
  result: unknown,
): { readonly file: FileResult; readonly changeType: 'create' | 'edit' } | null {
  const file = FileResult.safeParse(result).data;
  return file === undefined ? null : { file, changeType: file.type === 'create' ? 'create' : 'edit' };
}

/** The events of what a tool wrote: with their diffs where the driver kept them. */
export function changedFiles(result: unknown, kept: Kept, cwd: string | null): CanonicalBody<'file.changed'>[] {
  if (kept.diffs !== undefined) {
    return kept.diffs.map(({ path, changeType, diff }) => ({
      kind: 'file.changed',
      path,
      changeType,
      ...(diff === undefined ? {} : { diff: diff.artifact }),
    }));
  }
  const change = fileChangeOf(result);
  if (change === null) return [];
  const { file, changeType } = change;
  return [{ kind: 'file.changed', path: pathIn(cwd, file.filePath), changeType }];
}

/** A path as the workspace's own where it lies in it. */
function pathIn(cwd: string | null, path: string): string {
  return cwd !== null && path.startsWith(`${cwd}/`) && path.length > cwd.length + 1 ? path.slice(cwd.length + 1) : path;
}

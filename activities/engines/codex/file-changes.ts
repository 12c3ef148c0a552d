import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { FileUpdate, Kept } from './codex-schema.ts';

/** What became of one file; `diff` is as Codex gives it, empty where there is none. */
export interface FileChange {
  readonly path: string;
  readonly changeType: 'create' | 'edit' | 'delete';
  readonly diff: string;
  /** `diff` is the file's whole text, and no hunks. */
  readonly isText: boolean;
}

/** The changes of a patch, file by file: a move is the end of one file and the beginning of another. */
export function fileChangesOf(updates: readonly FileUpdate[]): FileChange[] {
  return updates.flatMap(({ path, kind, diff }): FileChange[] => {
    if (kind.type === 'add') return [{ path, changeType: 'create', diff, isText: true }];
    if (kind.type === 'delete') return [{ path, changeType: 'delete', diff, isText: true }];
    const target = kind.move_path;
    if (target == null || target === '' || target === path) return [{ path, changeType: 'edit', diff, isText: false }];
    return [
      { path: target, changeType: 'create', diff, isText: false },
      { path, changeType: 'delete', diff: '', isText: false },
    ];
  });
}

/** The events of a patch that was applied: with their diffs where the driver kept them. */
export function changedFiles(updates: readonly FileUpdate[], kept: Kept): CanonicalBody<'file.changed'>[] {
  if (kept.diffs === undefined) {
    return fileChangesOf(updates).map(({ path, changeType }) => ({ kind: 'file.changed', path, changeType }));
  }
  return kept.diffs.map(({ path, changeType, diff }) => ({
    kind: 'file.changed',
    path,
    changeType,
    ...(diff === undefined ? {} : { diff: diff.artifact }),
  }));
}

const HEADER = /^diff --git a\/(.+?) b\/(.+)$/;

/** The changes that a diff of a whole turn names, by its headers. */
export function changesOfDiff(diff: string): CanonicalBody<'file.changed'>[] {
  const lines = diff.split('\n');
  return lines.flatMap((line, index) => {
    const path = HEADER.exec(line)?.[2];
    if (path === undefined) return [];
    const mode = lines[index + 1] ?? '';
    const changeType = mode.startsWith('new file') ? 'create' : mode.startsWith('deleted file') ? 'delete' : 'edit';
    return [{ kind: 'file.changed', path, changeType }];
  });
}

/** Whether a path, relative or not, is one of those that were said. */
export function isSaid(said: readonly string[], path: string): boolean {
  return said.some((other) => other === path || other.endsWith(`/${path}`) || path.endsWith(`/${other}`));
}

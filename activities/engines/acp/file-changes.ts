import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { FileFact } from './acp-state.ts';
import type { Kept, ToolContent, ToolUpdate } from './acp-schema.ts';

const FILES_LIMIT = 200;

/** Kinds of tools that change the files which their locations name, where no diff says more. */
const CHANGING_KINDS = new Map<string, FileFact['changeType']>([
  ['edit', 'edit'],
  ['move', 'edit'],
  ['delete', 'delete'],
]);

/** A path as the workspace's own where it lies in it. */
export function pathIn(cwd: string | null, path: string): string {
  return cwd !== null && path.startsWith(`${cwd}/`) && path.length > cwd.length + 1 ? path.slice(cwd.length + 1) : path;
}

/** The files that a tool's frame says it changes: what the driver kept, else the diffs of the frame itself. */
export function filesOf(update: ToolUpdate, kept: Kept, cwd: string | null): FileFact[] {
  if (kept.diffs !== undefined) {
    return kept.diffs.map(({ path, changeType, diff }) => ({
      path: pathIn(cwd, path),
      changeType,
      ...(diff === undefined ? {} : { diff: diff.artifact }),
    }));
  }
  return (update.content ?? []).flatMap((item) =>
    item.type === 'diff' && item.path != null && item.path !== ''
      ? [{ path: pathIn(cwd, item.path), changeType: changeOf(item) }]
      : [],
  );
}

/** The files of a tool that gave no diff. */
export function locatedFiles(kind: string | null, locations: ToolUpdate['locations'], cwd: string | null): FileFact[] {
  const changeType = CHANGING_KINDS.get(kind ?? '');
  if (changeType === undefined) return [];
  return (locations ?? []).map(({ path }) => ({ path: pathIn(cwd, path), changeType }));
}

/** Each path once: what is newer replaces, but a file that the call created stays created. */
export function mergedFiles(known: readonly FileFact[], newer: readonly FileFact[]): readonly FileFact[] {
  if (newer.length === 0) return known;
  const byPath = new Map(known.map((file) => [file.path, file]));
  for (const file of newer) {
    const before = byPath.get(file.path);
    const isCreated = before?.changeType === 'create' && file.changeType === 'edit';
    byPath.set(file.path, { ...before, ...file, changeType: isCreated ? 'create' : file.changeType });
  }
  return [...byPath.values()].slice(0, FILES_LIMIT);
}

export function fileChanged({ path, changeType, diff }: FileFact): CanonicalBody<'file.changed'> {
  return { kind: 'file.changed', path, changeType, ...(diff === undefined ? {} : { diff }) };
}

function changeOf({ oldText, newText, _meta }: ToolContent): FileFact['changeType'] {
  if (_meta?.kind === 'delete') return 'delete';
  if (_meta?.kind === 'add') return 'create';
  if (oldText == null) return 'create';
  return newText == null ? 'delete' : 'edit';
}

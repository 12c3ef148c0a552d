import type { CanonicalBody } from '../../../contract/canonical.ts';
import { relativePath } from '../wire/relative-path.ts';
import type { FileDiff, Kept, Part, PatchedFile } from './opencode-schema.ts';
import { saying, TABLE_LIMITS, withLast, type OpencodeState, type Step } from './translation-state.ts';

/** What became of one file; `patch` is a unified diff as the engine gives it, empty where it gives none. */
export interface FileChange {
  readonly path: string;
  readonly changeType: 'create' | 'edit' | 'delete';
  readonly patch: string;
}

/** The files that a tool's call has changed, as it tells itself. */
export function changesOfTool({ tool, state }: Part): FileChange[] {
  const { metadata, input } = state;
  if (state.status !== 'completed' || metadata == null) return [];
  if (metadata.files != null) return metadata.files.flatMap(changesOfPatch);
  if (metadata.filediff != null) return changesOfDiffs([metadata.filediff]);
  if (tool !== 'write' || metadata.filepath == null || metadata.filepath === '') return [];
  const isNew = metadata.exists === false;
  const content = isNew && typeof input['content'] === 'string' ? input['content'] : '';
  return [{ path: metadata.filepath, changeType: isNew ? 'create' : 'edit', patch: newFilePatch(content) }];
}

/** The files that differ between the beginning of a turn and now. */
export function changesOfDiffs(diffs: readonly FileDiff[]): FileChange[] {
  return diffs.flatMap(({ file, patch, status }) => {
    if (file === '') return [];
    const isNew = status === 'added' || (status == null && NEW_FILE.test(patch));
    return [{ path: file, changeType: isNew ? 'create' : status === 'deleted' ? 'delete' : 'edit', patch }];
  });
}

/** A moved file is the end of one and the beginning of another. */
function changesOfPatch({ filePath, type, patch, movePath }: PatchedFile): FileChange[] {
  if (type === 'add') return [{ path: filePath, changeType: 'create', patch }];
  if (type === 'delete') return [{ path: filePath, changeType: 'delete', patch }];
  if (movePath == null) return [{ path: filePath, changeType: 'edit', patch }];
  return [
    { path: movePath, changeType: 'create', patch },
    { path: filePath, changeType: 'delete', patch: '' },
  ];
}

const NEW_FILE = /^@@ -0,0 /m;

/** A text as the hunk that makes a file of it. */
function newFilePatch(content: string): string {
  if (content === '') return '';
  const lines = content.replace(/\n$/, '').split('\n');
  const end = content.endsWith('\n') ? '' : '\n\\ No newline at end of file';
  return `@@ -0,0 +1,${String(lines.length)} @@\n${lines.map((line) => `+${line}`).join('\n')}${end}\n`;
}

/** What the driver kept of some changes, else the changes without their diffs. */
export function changedFiles(
  changes: readonly FileChange[],
  kept: Kept,
  { directory }: OpencodeState,
): CanonicalBody<'file.changed'>[] {
  if (kept.diffs === undefined) {
    return changes.map(({ path, changeType }) => ({
      kind: 'file.changed',
      path: shownPath(path, directory),
      changeType,
    }));
  }
  return kept.diffs.map(({ path, changeType, diff }) => ({
    kind: 'file.changed',
    path,
    changeType,
    ...(diff === undefined ? {} : { diff: diff.artifact }),
  }));
}

/** The state after changes were said. */
export function withChanges(state: OpencodeState, bodies: readonly CanonicalBody[]): OpencodeState {
  const said = bodies.flatMap((body) => (body.kind === 'file.changed' ? [body.path] : []));
  if (said.length === 0) return state;
  const changedPaths = said.reduce((paths, path) => withLast(paths, path, TABLE_LIMITS.paths), state.changedPaths);
  return { ...state, changedPaths, unsaidPaths: state.unsaidPaths.filter((path) => !said.includes(path)) };
}

/** Files were changed, by a tool that may still tell of it: what none has told is said when the turn is over. */
export function noteChanged(
  state: OpencodeState,
  files: readonly string[],
  { isTold }: { isTold: boolean },
): OpencodeState {
  const paths = files.map((file) => shownPath(file, state.directory));
  const unsaid = isTold ? paths.filter((path) => !state.changedPaths.includes(path)) : paths;
  return {
    ...state,
    unsaidPaths: unsaid.reduce((all, path) => withLast(all, path, TABLE_LIMITS.paths), state.unsaidPaths),
  };
}

/** What was changed and no tool has told of. */
export function unsaidChanges(state: OpencodeState): CanonicalBody<'file.changed'>[] {
  return state.unsaidPaths.map((path) => ({ kind: 'file.changed', path, changeType: 'edit' }));
}

/** What a turn has changed by now, without what its tools have told. */
export function turnChanges(state: OpencodeState, diffs: readonly FileDiff[], kept: Kept): Step {
  const changes = changedFiles(changesOfDiffs(diffs), kept, state);
  const unsaid = changes.filter(({ path }) => !state.changedPaths.includes(path));
  return saying(withChanges(state, unsaid), unsaid, { why: 'what the agent was told' });
}

function shownPath(path: string, directory: string | null): string {
  // the folder itself has no name in it
  return directory === null ? path : relativePath([directory], path) || path;
}

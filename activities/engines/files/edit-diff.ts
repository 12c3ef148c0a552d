import { createTwoFilesPatch } from 'diff';
import { relativePath } from '../wire/relative-path.ts';
import type { FileEdit } from './file-witness.ts';

const COMPARED_CHARS = 4_000_000;
const COMPARED_EDITS = 5_000;

/** A change as the timeline tells it. */
export interface EditDiff {
  readonly path: string;
  readonly changeType: 'create' | 'edit' | 'delete';
  /** Unified, with its header; null where a text is unknown, nothing changed, or the texts are too large to compare. */
  readonly text: string | null;
}

/** The diff of an edit. `roots`: the workspace by each of its names; paths in it are given relative to it. */
export function editDiffOf(edit: FileEdit, roots: readonly string[]): EditDiff {
  const { before, after, isDelete } = edit;
  const path = relativePath(roots, edit.path);
  const changeType = isDelete ? 'delete' : before === null ? 'create' : 'edit';
  const isKnown = before !== undefined && after !== undefined && before !== after;
  if (!isKnown || (before ?? '').length + (after ?? '').length > COMPARED_CHARS)
    return { path, changeType, text: null };
  const text = createTwoFilesPatch(`a/${path}`, `b/${path}`, before ?? '', after ?? '', undefined, undefined, {
    maxEditLength: COMPARED_EDITS,
  });
  return { path, changeType, text: text ?? null };
}

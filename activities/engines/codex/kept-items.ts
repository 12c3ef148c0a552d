import { basename } from 'node:path';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { relativePath } from '../wire/relative-path.ts';
import type { DriverContext } from '../driver.ts';
import type { WireMessage } from '../wire/wire-frame.ts';
import { ItemMessage, type Item, type Kept } from './codex-schema.ts';
import { fileChangesOf, type FileChange } from './file-changes.ts';
import { outputOf, toolNameOf } from './tool-items.ts';
import { unifiedDiff } from './unified-diff.ts';

/**
 * Keeps what is large in an item that was completed, and gives what stands for it in the frame: each diff of a patch, and an
 * output that the timeline shows only the beginning of. Null where there is nothing of the kind.
 *
 * `roots`: the workspace by each of its names; paths in it are given relative to it.
 */
export async function keptOf(
  { method, params }: WireMessage,
  { keep, roots }: { keep: DriverContext['keep']; roots: readonly string[] },
): Promise<Kept | null> {
  if (method !== 'item/completed') return null;
  const item = ItemMessage.safeParse(params).data?.item;
  if (item === undefined) return null;
  if (item.type === 'fileChange') {
    const isApplied = item.status === 'completed';
    return isApplied ? { diffs: await Promise.all(fileChangesOf(item.changes).map(keptDiff)) } : null;
  }
  return await keptOutput(item, keep);

  async function keptDiff(change: FileChange) {
    const { changeType } = change;
    const path = relativePath(roots, change.path);
    if (change.diff === '') return { path, changeType };
    const text = unifiedDiff({ ...change, path });
    const name = `${basename(path)}.diff`;
    return { path, changeType, diff: await keep({ name, contentType: 'text/x-diff', text }) };
  }
}

/** An output that the timeline shows only the beginning of; null for a shorter one. */
export async function keptOutput(item: Item, keep: DriverContext['keep']): Promise<Kept | null> {
  const name = toolNameOf(item);
  const text = outputOf(item);
  if (name === null || text.length <= PREVIEW_LIMIT_CHARS) return null;
  return { output: await keep({ name: `${name}.txt`, contentType: 'text/plain; charset=utf-8', text }) };
}

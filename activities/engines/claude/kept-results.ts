import { createTwoFilesPatch } from 'diff';
import { basename } from 'node:path';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import type { DriverContext } from '../driver.ts';
import { relativePath } from '../wire/relative-path.ts';
import type { ClaudeMessage } from './claude-frames.ts';
import { UserMessage, type FileResult, type Kept } from './claude-schema.ts';
import { fileChangeOf } from './file-changes.ts';
import { outputOf } from './tool-facts.ts';

/**
 * Keeps what is large in the result of a tool, and gives what stands for it in the frame: the diff of a file that was written, and
 * an output that the timeline shows only the beginning of. Null where there is nothing of the kind.
 *
 * `roots`: the workspace by each of its names; paths in it are given relative to it.
 */
export async function keptOf(
  message: ClaudeMessage,
  { keep, roots }: { keep: DriverContext['keep']; roots: readonly string[] },
): Promise<Kept | null> {
  if (message['type'] !== 'user') return null;
  const parsed = UserMessage.safeParse(message).data;
  if (parsed === undefined || typeof parsed.message.content === 'string') return null;
  const [result, ...others] = parsed.message.content.filter(({ type }) => type === 'tool_result');
  if (result === undefined || others.length > 0) return null;
  const change = result.is_error === true ? null : fileChangeOf(parsed.tool_use_result);
  if (change !== null) {
    const path = relativePath(roots, change.file.filePath);
    const { changeType } = change;
    const text = diffOf(path, change.file, changeType);
    if (text === null) return { diffs: [{ path, changeType }] };
    const diff = await keep({ name: `${basename(path)}.diff`, contentType: 'text/x-diff', text });
    return { diffs: [{ path, changeType, diff }] };
  }
  const output = outputOf(result.content);
  if (output.length <= PREVIEW_LIMIT_CHARS) return null;
  const name = `output-${result.tool_use_id.replaceAll(/[^\w.-]+/g, '-').slice(0, 80)}.txt`;
  return { output: await keep({ name, contentType: 'text/plain; charset=utf-8', text: output }) };
}

/** A change as a unified diff; null where nothing says what was there before. */
function diffOf(path: string, { content, structuredPatch }: FileResult, changeType: 'create' | 'edit'): string | null {
  const [from, to] = [`a/${path}`, `b/${path}`];
  if (changeType === 'create') return content == null ? null : createTwoFilesPatch(from, to, '', content);
  if (structuredPatch.length === 0) return null;
  const hunks = structuredPatch.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    return [`@@ -${String(oldStart)},${String(oldLines)} +${String(newStart)},${String(newLines)} @@`, ...lines].join(
      '\n',
    );
  });
  return [`--- ${from}`, `+++ ${to}`, ...hunks, ''].join('\n');
}

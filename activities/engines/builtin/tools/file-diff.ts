import { createTwoFilesPatch } from 'diff';
import { readFile } from 'node:fs/promises';

/** Texts longer than this together are not compared: it would hold up the process. */
const COMPARED_CHARS = 512 * 1024;
const COMPARED_EDITS = 2_000;

/**
 * What a write changes, as a unified diff; null where there is none to show: the texts are large, too different, or no text.
 *
 * **Contract:** `before` is read as it is before the write; null says that there was no file.
 */
export function fileDiff(path: string, before: string | null, after: string): string | null {
  if (before?.includes('\uFFFD') === true || (before?.length ?? 0) + after.length > COMPARED_CHARS) return null;
  const [from, to] = [`a/${path}`, `b/${path}`];
  const options = { maxEditLength: COMPARED_EDITS };
  return createTwoFilesPatch(from, to, before ?? '', after, undefined, undefined, options) ?? null;
}

/** A file's text before it is written; what is large is not read. */
export async function textBefore(place: string, bytes: number): Promise<string> {
  return bytes > COMPARED_CHARS ? '\uFFFD' : await readFile(place, 'utf8');
}

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Dirent } from 'node:fs';
import { basename, join, matchesGlob } from 'node:path';
import { isTemporary } from './replace-file.ts';

/** What is looked for, and where; plain data, so that another thread can do it. */
export interface TextSearch {
  /** A real path: a folder or a file. */
  readonly place: string;
  /** Its name as results show it, relative to the workspace; empty for the workspace itself. */
  readonly shown: string;
  readonly pattern: string;
  readonly isRegex: boolean;
  readonly ignoresCase: boolean;
  readonly glob: string | null;
  readonly limits: {
    readonly files: number;
    readonly fileBytes: number;
    readonly bytes: number;
    readonly matches: number;
  };
}

export interface TextMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** What the search did not look at. */
export interface SearchEnd {
  /** A bound was reached: there may be more. */
  readonly isCut: boolean;
  /** Files left out: no text, or too large. */
  readonly skipped: number;
}

/** Made by machines, and large: only searched where they are named. */
const PASSED_OVER = new Set(['.git', 'node_modules']);
const LINE_CHARS = 300;

/**
 * Looks for a text line by line, files in the order of their names.
 *
 * **Contract:** follows no symbolic link, reads no more than its limits, and leaves out what is no text. Blocks its thread, for
 * as long as a hostile pattern likes: run it in one that can be ended.
 */
export function* searchText(search: TextSearch): Generator<TextMatch, SearchEnd> {
  const { limits } = search;
  const matches = matcherOf(search);
  let [files, bytes, found, skipped] = [0, 0, 0, 0];
  for (const file of filesBelow(search)) {
    if (++files > limits.files || bytes > limits.bytes) return { isCut: true, skipped };
    if (search.glob !== null && !isWanted(file.path, search.glob)) continue;
    const text = readText(file.place, limits.fileBytes);
    if (text === null) {
      skipped += 1;
      continue;
    }
    bytes += text.length;
    let line = 0;
    for (const content of text.split(/\r?\n/)) {
      line += 1;
      if (!matches(content)) continue;
      if (++found > limits.matches) return { isCut: true, skipped };
      yield { path: file.path, line, text: brief(content) };
    }
  }
  return { isCut: false, skipped };
}

function matcherOf({ pattern, isRegex, ignoresCase }: TextSearch): (line: string) => boolean {
  if (isRegex) {
    const regex = new RegExp(pattern, ignoresCase ? 'i' : '');
    return (line) => regex.test(line);
  }
  if (!ignoresCase) return (line) => line.includes(pattern);
  const lower = pattern.toLowerCase();
  return (line) => line.toLowerCase().includes(lower);
}

/** Without a slash a pattern is one for the file's name, else for its path. */
function isWanted(path: string, glob: string): boolean {
  return matchesGlob(glob.includes('/') ? path : basename(path), glob);
}

interface FoundFile {
  readonly place: string;
  readonly path: string;
}

function* filesBelow({ place, shown }: Pick<TextSearch, 'place' | 'shown'>): Generator<FoundFile> {
  const entries = entriesOf(place);
  if (entries === null) return yield { place, path: shown };
  for (const entry of entries) {
    const inside = { place: join(place, entry.name), shown: shown === '' ? entry.name : `${shown}/${entry.name}` };
    if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) yield* filesBelow(inside);
    else if (entry.isFile() && !isTemporary(entry.name)) yield { place: inside.place, path: inside.shown };
  }
}

/** Null for what is no folder, and for one that may not be read. */
function entriesOf(place: string): Dirent[] | null {
  try {
    return readdirSync(place, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return null;
  }
}

/** Null for what is no text, is too large, or cannot be read. */
function readText(place: string, limitBytes: number): string | null {
  let file: number | null = null;
  try {
    file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > limitBytes) return null;
    const bytes = Buffer.alloc(stat.size);
    const size = readSync(file, bytes, 0, bytes.length, 0);
    const read = bytes.subarray(0, size);
    return read.includes(0) ? null : read.toString('utf8');
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

function brief(line: string): string {
  const text = line.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').trimEnd();
  return text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS).toWellFormed()}…` : text;
}

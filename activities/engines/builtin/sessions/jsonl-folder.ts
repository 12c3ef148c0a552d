import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

/** A session file by its name alone. */
export interface SessionFile {
  readonly id: string;
  readonly path: string;
}

const FILE = /^(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})_(.+)\.jsonl$/;
const REPAIRED = '.repaired.jsonl';
const FOLDER_NAME_CHARS = 200;

/** The folder of one place of work: `--` around its path with `-` for each `/`. */
export function folderOfCwd(root: string, cwd: string): string {
  const name = cwd.replaceAll(/[/\\]/g, '-');
  const short =
    name.length <= FOLDER_NAME_CHARS ? name : `${name.slice(0, FOLDER_NAME_CHARS)}-${hash('sha256', cwd).slice(0, 8)}`;
  return join(root, `--${short}--`);
}

/** The name of a new session's file: its time to the second, and its id. */
export function newSessionPath(folder: string, id: string, now: Date): string {
  return join(folder, `${now.toISOString().slice(0, 19).replaceAll(':', '-')}_${id}.jsonl`);
}

/** The time in a file's name, as ISO 8601. */
export function timeOfPath(path: string): string {
  const stamp = FILE.exec(path.slice(path.lastIndexOf(sep) + 1))?.[1] ?? '1970-01-01T00-00-00';
  return `${stamp.slice(0, 10)}T${stamp.slice(11).replaceAll('-', ':')}.000Z`;
}

/** Where the repaired copy of a session goes. */
export function repairedPath(path: string): string {
  return path.replace(/\.jsonl$/, REPAIRED);
}

/** The session files of a folder, or of all of them, the newest begun first; what was repaired is a copy and none of them. */
export async function sessionFiles(root: string, cwd?: string): Promise<SessionFile[]> {
  const folders = cwd === undefined ? (await names(root)).map((name) => join(root, name)) : [folderOfCwd(root, cwd)];
  const found = await Promise.all(folders.map(filesOf));
  return found.flat().toSorted((a, b) => compare(keyOf(b), keyOf(a)));
}

/** True for a path that is of these sessions: what lies elsewhere is not read and not written. */
export function isInside(root: string, path: string): boolean {
  return resolve(path).startsWith(resolve(root) + sep) && path.endsWith('.jsonl');
}

async function filesOf(folder: string): Promise<SessionFile[]> {
  return (await names(folder)).flatMap((name) => {
    const id = name.endsWith(REPAIRED) ? undefined : FILE.exec(name)?.[2];
    return id === undefined ? [] : [{ id, path: join(folder, name) }];
  });
}

/** The name first: two folders are one list. */
function keyOf({ path }: SessionFile): string {
  return `${path.slice(path.lastIndexOf(sep) + 1)}\n${path}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname, join, posix, sep } from 'node:path';
import { ToolFault } from './tool.ts';

export interface Place {
  /** The real path of the workspace. */
  readonly root: string;
  /** The real path that is named. */
  readonly place: string;
  /** The path as the model named it, in its normal form. */
  readonly shown: string;
}

/**
 * Finds the place that a model's path names inside the workspace.
 *
 * **Contract:** the place is at or below the real workspace, with no symbolic link left in what exists of it. An absolute
 * path, one that climbs out, a link that leads out or nowhere, a NUL or another invisible character is a `ToolFault`. The
 * workspace is made when it is missing, for its owner only. The caller still opens the last part without following links.
 */
export async function placeInWorkspace(workspace: string, path: string): Promise<Place> {
  const shown = normalise(path);
  let place: string;
  let root: string;
  try {
    await mkdir(workspace, { recursive: true, mode: 0o700 });
    root = await realpath(workspace);
    place = await settle(join(root, shown));
  } catch (error) {
    throw fileFault(error, shown);
  }
  if (place !== root && !place.startsWith(root + sep)) {
    throw new ToolFault(`${quoted(shown)} leads out of the workspace through a symbolic link; use another path`);
  }
  return { root, place, shown };
}

/** A path as the model is told it: quoted where it would not read as one. */
export function quoted(path: string): string {
  return /^[\p{L}\p{N}_./@+-]+$/u.test(path) ? path : JSON.stringify(path);
}

/** A path for a prompt of one line: of a long one its end, which says the most. */
export function briefly(path: string): string {
  return path.length <= 120 ? path : `…${path.slice(-119)}`;
}

/** What the file system refused, in words for the model; a `ToolFault` stays as it is. */
export function fileFault(error: unknown, shown: string): ToolFault {
  if (error instanceof ToolFault) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault';
  return new ToolFault(`${quoted(shown)} ${SAID[code] ?? `cannot be used (${code}); try another path`}`);
}

const SAID: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; list_files shows what does',
  ENOTDIR: 'has a part that is a file, not a folder; list_files shows what exists',
  EISDIR: 'is a folder; name a file in it',
  EACCES: 'may not be opened; use another file',
  ELOOP: 'is a symbolic link; name the file that it leads to',
  ENAMETOOLONG: 'is too long; use a shorter name',
  ENOSPC: 'could not be written: the disk is full',
};

function normalise(path: string): string {
  if (/[\p{Cc}\p{Cf}\p{Cs}]/u.test(path))
    throw new ToolFault('the path holds an invisible character; use a plain relative path');
  if (path.includes('\\')) throw new ToolFault(`${JSON.stringify(path)} has a backslash; put / between folders`);
  if (posix.isAbsolute(path) || /^[A-Za-z]:/.test(path)) {
    throw new ToolFault(`${quoted(path)} is absolute; use a path relative to the workspace, such as notes/a.txt`);
  }
  const normal = posix.normalize(path === '' ? '.' : path).replace(/(?<=.)\/$/, '');
  if (normal === '..' || normal.startsWith('../')) {
    throw new ToolFault(`${quoted(path)} is outside the workspace; use a path inside it`);
  }
  return normal;
}

/** The real path of what exists, with the rest as named behind it. */
async function settle(place: string): Promise<string> {
  try {
    return await realpath(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (await isLink(place)) {
      throw new ToolFault(`${quoted(posix.basename(place))} is a symbolic link to nothing; use another path`);
    }
    return join(await settle(dirname(place)), posix.basename(place));
  }
}

async function isLink(place: string): Promise<boolean> {
  try {
    return (await lstat(place)).isSymbolicLink();
  } catch {
    return false;
  }
}

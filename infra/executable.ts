import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/**
 * The file that a command's first word stands for: a path as it is, relative to `cwd`, or a name looked up along `path`. Null
 * when there is none that may be run.
 */
export function findExecutable(name: string, { path, cwd }: { path: string; cwd: string }): string | null {
  if (name.includes('/')) return isExecutable(resolve(cwd, name)) ? resolve(cwd, name) : null;
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => resolve(cwd, folder, name)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

import { isAbsolute, relative, sep } from 'node:path';

/** A path relative to the workspace where it lies in it, else as it came. `roots`: the workspace by each of its names. */
export function relativePath(roots: readonly string[], path: string): string {
  if (!isAbsolute(path)) return path;
  for (const root of roots) {
    const inside = relative(root, path);
    if (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return inside;
  }
  return path;
}

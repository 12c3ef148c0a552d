import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isTemporary } from './replace-file.ts';
import { executableTool, succeeded, ToolFault } from './tool.ts';
import { briefly, fileFault, placeInWorkspace, quoted } from './workspace-path.ts';

/** How many entries are looked at before the listing is cut, so that a huge folder costs no more than this. */
const SCAN_LIMIT = 20_000;
const DEPTH_LIMIT = 32;

export const listFiles = executableTool({
  name: 'list_files',
  label: 'List files',
  description:
    'Lists a folder of the workspace: each file with its size, each folder with a / at its end, sorted by name.',
  schema: z.strictObject({
    path: z
      .string()
      .max(1_024)
      .optional()
      .describe('A folder relative to the workspace; the workspace itself when left out.'),
    recursive: z.boolean().optional().describe('Also list what is in the folders below.'),
  }),
  approval: 'never',
  repeatable: true,
  parallelSafe: true,
  describe: ({ path = '.', recursive = false }) => `List ${briefly(path)}${recursive ? ' and below' : ''}`,
  async execute({ path = '.', recursive = false }, { workspace, signal, limits }) {
    const { place, shown } = await placeInWorkspace(workspace, path);
    const found: string[] = [];
    const isCut = await scan(place, shown, recursive, signal, found);
    if (found.length === 0) return succeeded(shown === '.' ? '(the workspace is empty)' : '(the folder is empty)');
    const sorted = found.toSorted();
    const entries = sorted.slice(0, limits.listEntries);
    const lines = await Promise.all(entries.map(async (name) => await lineOf(place, name)));
    const rest = isCut ? 'more' : String(sorted.length - entries.length);
    if (isCut || sorted.length > entries.length) lines.push(`[${rest} not shown; list one of the folders]`);
    return succeeded(lines.join('\n'));
  },
});

/** Collects the names below a folder, breadth first, links not followed; true when it stopped at a bound. */
async function scan(
  place: string,
  shown: string,
  recursive: boolean,
  signal: AbortSignal,
  found: string[],
): Promise<boolean> {
  let isCut = false;
  const folders = [{ prefix: '', depth: 0 }];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    signal.throwIfAborted();
    for await (const entry of entriesOf(join(place, folder.prefix), folder.prefix === '' ? shown : folder.prefix)) {
      if (isTemporary(entry.name)) continue;
      if (found.length >= SCAN_LIMIT) return true;
      const name = folder.prefix + entry.name + (entry.isDirectory() ? '/' : '');
      found.push(name);
      if (!recursive || !entry.isDirectory()) continue;
      if (folder.depth < DEPTH_LIMIT) folders.push({ prefix: name, depth: folder.depth + 1 });
      else isCut = true;
    }
  }
  return isCut;
}

async function* entriesOf(folder: string, shown: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOTDIR'
      ? new ToolFault(`${quoted(shown)} is a file; read_file reads it`)
      : fileFault(error, shown);
  }
}

async function lineOf(place: string, name: string): Promise<string> {
  if (name.endsWith('/')) return quoted(name);
  try {
    const stat = await lstat(join(place, name));
    if (stat.isSymbolicLink()) return `${quoted(name)} (symbolic link)`;
    return stat.isFile() ? `${quoted(name)} ${String(stat.size)} bytes` : `${quoted(name)} (not a regular file)`;
  } catch {
    return `${quoted(name)} (gone)`;
  }
}

import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, rename, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { utf8Bytes } from '../../../../contract/frames.ts';
import type { FileChange } from '../file-change.ts';
import { fileDiff, textBefore } from './file-diff.ts';
import { executableTool, succeeded, ToolFault } from './tool.ts';
import { briefly, fileFault, placeInWorkspace, quoted } from './workspace-path.ts';

export const writeFile = executableTool({
  name: 'write_file',
  label: 'Write file',
  description:
    'Creates a text file in the workspace, or replaces one. Folders on the way are made. A person approves each call.',
  schema: z.strictObject({
    path: z.string().min(1).max(1_024).describe('Relative to the workspace, such as notes/a.txt.'),
    content: z.string().describe('The whole new text of the file.'),
  }),
  approval: 'always',
  repeatable: false,
  parallelSafe: false,
  describe: ({ path, content }) => `Write ${String(utf8Bytes(content))} bytes to ${briefly(path)}`,
  async execute({ path, content }, { workspace, signal, limits }) {
    const bytes = Buffer.from(content, 'utf8');
    if (bytes.length > limits.writeBytes) {
      throw new ToolFault(
        `the content has ${String(bytes.length)} bytes and ${String(limits.writeBytes)} are allowed; write less, or several files`,
      );
    }
    const { root, place, shown } = await placeInWorkspace(workspace, path);
    if (place === root) throw new ToolFault('the path names the workspace itself; name a file in it');
    signal.throwIfAborted();
    try {
      await mkdir(dirname(place), { recursive: true });
      if ((await realpath(dirname(place))) !== dirname(place))
        throw new ToolFault(`the folders of ${quoted(shown)} have changed; try again`);
      const before = await existing(place);
      if (before?.isDirectory() === true) throw new ToolFault(`${quoted(shown)} is a folder; name a file in it`);
      if (before !== null && !before.isFile())
        throw new ToolFault(`${quoted(shown)} is not a regular file; use another path`);
      const textNow = before === null ? null : await textBefore(place, before.size);
      await replace(place, bytes, before);
      const change: FileChange = { path: shown, changeType: before === null ? 'create' : 'edit' };
      const verb = before === null ? 'created' : 'replaced';
      const said = succeeded(`${verb} ${quoted(shown)} (${String(bytes.length)} bytes)`, {
        ...change,
        bytes: bytes.length,
      });
      const diff = fileDiff(shown, textNow, content);
      return diff === null ? said : { ...said, diff };
    } catch (error) {
      throw fileFault(error, shown);
    }
  },
});

/** Whether a name is one under which a write is prepared; a crash can leave such a file behind. */
export function isTemporary(name: string): boolean {
  return /^\.tidemark-[0-9a-f-]{36}\.tmp$/.test(name);
}

/** All or nothing, and durable: a crash leaves the old file or the new one, never a part. */
async function replace(place: string, bytes: Buffer, before: Stats | null): Promise<void> {
  const temporary = join(dirname(place), `.tidemark-${randomUUID()}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    await withFile(temporary, flags, async (file) => {
      if (before !== null) await file.chmod(before.mode & 0o777);
      await file.writeFile(bytes);
      await file.sync();
    });
    await rename(temporary, place);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await withFile(dirname(place), constants.O_RDONLY | constants.O_DIRECTORY, async (folder) => await folder.sync());
}

async function withFile(path: string, flags: number, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o644);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

async function existing(place: string): Promise<Stats | null> {
  try {
    return await lstat(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

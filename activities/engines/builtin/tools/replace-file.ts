import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Whether a name is one under which a write is prepared; a crash can leave such a file behind. */
export function isTemporary(name: string): boolean {
  return /^\.tidemark-[0-9a-f-]{36}\.tmp$/.test(name);
}

/** All or nothing, and durable: a crash leaves the old file or the new one, never a part. */
export async function replaceFile(place: string, bytes: Buffer, before: Stats | null): Promise<void> {
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

/** What is there now, a link not followed; null where there is nothing. */
export async function existing(place: string): Promise<Stats | null> {
  try {
    return await lstat(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

import { lstat, realpath, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ThreadId } from '../contract/ids.ts';

/**
 * Removes a folder of a thread: the one in which its tools worked, the one with its sessions.
 *
 * **Contract:** safe to repeat; what is not there is removed. Touches only the root's own child of that name: a name that is no
 * thread id is an error, and a symbolic link, there or below, is removed itself and never followed.
 */
export async function removeThreadFolder(root: string, threadId: string): Promise<void> {
  if (!ThreadId.safeParse(threadId).success) throw new Error(`${JSON.stringify(threadId)} names no thread's folder`);
  try {
    const path = join(await realpath(root), threadId);
    if ((await lstat(path)).isDirectory()) await rm(path, { recursive: true, force: true, maxRetries: 2 });
    else await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

/**
 * Names the place where engines keep their side of their sessions: this home, on this machine's disk. A session that was begun in one
 * place is not taken up in another (agent contract, "Durable sessions and commands").
 *
 * **Contract:** the same after a restart; two processes that start at once get the same.
 */
export async function runtimeIdOf(home: string): Promise<string> {
  await mkdir(home, { recursive: true });
  const path = join(home, 'runtime-id');
  try {
    await writeFile(path, `${randomUUID()}\n`, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  for (;;) {
    const id = (await readFile(path, 'utf8')).trim();
    if (id !== '') return id;
  }
}

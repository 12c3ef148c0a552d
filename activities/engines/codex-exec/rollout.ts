import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Whether Codex still keeps a thread: it has a file for each, whose name ends with the thread's id. Asked before a turn, because
 * `exec resume` of a thread that is gone ends the turn instead of beginning anew.
 */
export async function isKept(threadId: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const home = env['CODEX_HOME'] ?? join(env['HOME'] ?? '/', '.codex');
  // it has none yet where there is no folder
  const files = await readdir(join(home, 'sessions'), { recursive: true }).catch(() => []);
  return files.some((file) => file.endsWith(`-${threadId}.jsonl`));
}

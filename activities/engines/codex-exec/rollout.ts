import { glob } from 'node:fs/promises';
import { join } from 'node:path';

/** A thread's id as Codex makes them; what looks otherwise is no part of a file's name. */
const THREAD_ID = /^[0-9a-f-]{36}$/;

/**
 * Whether Codex still keeps a thread: it has a file for each, whose name ends with the thread's id. Asked before a turn, because
 * `exec resume` of a thread that is gone ends the turn instead of beginning anew.
 */
export async function isKept(threadId: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  if (!THREAD_ID.test(threadId)) return false;
  const home = env['CODEX_HOME'] ?? join(env['HOME'] ?? '/', '.codex');
  for await (const _ of glob(`sessions/*/*/*/rollout-*-${threadId}.jsonl`, { cwd: home })) return true;
  return false;
}

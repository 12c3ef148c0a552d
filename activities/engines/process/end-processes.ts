import { setTimeout as sleep } from 'node:timers/promises';
import { hasProcessTable, readProcesses, type ProcessEntry } from './process-table.ts';

/** So long a process may take to end after SIGTERM. */
export const GRACE_MS = 3_000;
/** So long SIGKILL may take: one that is stuck in the kernel is given up. */
const KILLED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 50;

/** Between the mark that killMarked is given and what tells one process of that mark from another. */
export const MARK_SEPARATOR = '/';

/**
 * Ends processes: SIGTERM, then SIGKILL to what is still there after the grace.
 *
 * **Contract:** resolves when `find` finds none, also of those that were started meanwhile; false when some could not be
 * killed. Never throws.
 */
export async function endProcesses(find: () => Promise<readonly number[]>): Promise<boolean> {
  const signalled = new Set<number>();
  const askEach = (pids: readonly number[]) => {
    for (const pid of pids.filter((each) => !signalled.has(each))) {
      signalled.add(pid);
      signal(pid, 'SIGTERM');
    }
  };
  if (await noneLeft(find, askEach, GRACE_MS)) return true;
  return await noneLeft(find, (pids) => pids.forEach((pid) => signal(pid, 'SIGKILL')), KILLED_WITHIN_MS);
}

/**
 * Ends every process on this machine that carries a mark: what an earlier attempt left, also that of a worker that is gone.
 * Says how many there were.
 */
export async function killMarked(mark: string): Promise<number> {
  if (!hasProcessTable) return 0;
  const prefix = `${mark}${MARK_SEPARATOR}`;
  const find = async () => pidsOf(await readProcesses(), (entry) => entry.mark?.startsWith(prefix) ?? false);
  const { length } = await find();
  if (length > 0) await endProcesses(find);
  return length;
}

/** The ids of those that are part of an engine. */
export function pidsOf(entries: readonly ProcessEntry[], isOne: (entry: ProcessEntry) => boolean): number[] {
  return entries.filter((entry) => !entry.isWatcher && isOne(entry)).map(({ pid }) => pid);
}

/** Signals a process, or a group by its negative id; one that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has just ended
  }
}

async function noneLeft(
  find: () => Promise<readonly number[]>,
  act: (pids: readonly number[]) => void,
  withinMs: number,
): Promise<boolean> {
  for (const giveUpAt = performance.now() + withinMs; ; await sleep(LOOK_EVERY_MS)) {
    const pids = await find().catch(() => []);
    if (pids.length === 0) return true;
    act(pids);
    if (performance.now() >= giveUpAt) return false;
  }
}

import { readdir, readFile, stat } from 'node:fs/promises';
import { MARK_VARIABLE, WATCH_VARIABLE } from './engine-launch.ts';

/** A living process of this user. */
export interface ProcessEntry {
  readonly pid: number;
  readonly groupId: number;
  /** Of which engine it is, if its environment says so. */
  readonly mark: string | null;
  /** It waits for the worker's death and is no part of an engine. */
  readonly isWatcher: boolean;
}

/** Whether this system says what runs on it. */
export const hasProcessTable = process.platform === 'linux';

/**
 * What runs now under this process's user, this process left out. Empty where there is no `/proc`.
 *
 * **Contract:** one that ends meanwhile is left out; so is one that has ended and is not yet reaped.
 */
export async function readProcesses(): Promise<ProcessEntry[]> {
  if (!hasProcessTable) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await Promise.all(pids.filter((pid) => pid !== process.pid).map(readProcess));
  return entries.filter((entry) => entry !== null);
}

/** The memory of a process that is in use, in KiB; 0 when it is gone. */
export async function residentKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}

async function readProcess(pid: number): Promise<ProcessEntry | null> {
  try {
    if ((await stat(`/proc/${pid}`)).uid !== process.getuid?.()) return null;
    // "pid (name) state parent group …": the name may hold spaces and parentheses
    const line = await readFile(`/proc/${pid}/stat`, 'latin1');
    const [state = 'X', , groupId] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    const environment = (await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).split('\0');
    const mark = environment.find((entry) => entry.startsWith(`${MARK_VARIABLE}=`));
    return {
      pid,
      groupId: Number(groupId),
      mark: mark?.slice(MARK_VARIABLE.length + 1) ?? null,
      isWatcher: environment.includes(`${WATCH_VARIABLE}=1`),
    };
  } catch {
    return null;
  }
}

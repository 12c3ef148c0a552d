import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStamp } from '../process-stamp.mjs';

/**
 * Stops a server that an unclean end of ours left running on `dataDir`, and removes a `postmaster.pid` whose process id is
 * by now another program's (or a zombie's), which PostgreSQL would take for a running server.
 */
export async function endPostmaster(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  const pid = readPid(file);
  if (pid === null) return;
  if (processStamp(pid) !== null && commandOf(pid).includes(dataDir)) await end(pid);
  if (isTaken(pid)) await rm(file, { force: true });
}

async function end(pid: number): Promise<void> {
  const steps = [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const;
  for (const [signal, waitMs] of steps) {
    if (await endWith(pid, signal, waitMs)) return;
  }
}

async function endWith(pid: number, signal: NodeJS.Signals, waitMs: number): Promise<boolean> {
  const stamp = processStamp(pid);
  try {
    process.kill(pid, signal);
  } catch {
    return true;
  }
  for (const giveUpAt = Date.now() + waitMs; Date.now() < giveUpAt; await sleep(50)) {
    if (processStamp(pid) !== stamp) return true;
  }
  return false;
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readPid(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function commandOf(pid: number): string {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

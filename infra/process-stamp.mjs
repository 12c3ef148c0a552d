import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * What tells a process from a later one that was given the same id: when it started. `null` if no such process runs.
 *
 * @param {number} pid
 * @returns {string | null}
 */
export function processStamp(pid) {
  return process.platform === 'linux' ? stampFromProc(pid) : stampFromPs(pid);
}

/** @param {number} pid */
function stampFromProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the name in parentheses may hold anything; state is the first field after it, the start time the 20th
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return null;
  }
}

/** @param {number} pid */
function stampFromPs(pid) {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

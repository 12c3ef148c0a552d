import { readFileSync } from 'node:fs';
import { processStamp } from '../process-stamp.mjs';

const EVERY_MS = 500;

/**
 * Aborted when npm, or the shell through which npm runs a script, has ended and left us behind: neither passes on every
 * signal (npm's shell keeps a SIGTERM for itself, and nobody can pass on a `kill -9`). To be called first of all.
 *
 * @returns {AbortSignal}
 */
export function endOfNpm() {
  const gone = new AbortController();
  if (process.env['npm_lifecycle_event'] === undefined) return gone.signal;
  const parent = process.ppid;
  const npm = [parent, parentOf(parent)].find(isNpm);
  const stamp = npm === undefined ? null : processStamp(npm);
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || processStamp(npm) === stamp)) return;
    clearInterval(timer);
    gone.abort();
  }, EVERY_MS);
  timer.unref();
  return gone.signal;
}

/** @param {number} pid */
function parentOf(pid) {
  const stat = readProc(pid, 'stat');
  // the name in parentheses may hold anything; state and parent are the fields after it
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** @param {number} pid */
function isNpm(pid) {
  return /(^|[/\s])npm\b/.test(readProc(pid, 'cmdline'));
}

/**
 * Empty where there is no /proc; there only the parent is watched.
 *
 * @param {number} pid
 * @param {string} name
 */
function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

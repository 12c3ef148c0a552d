import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStamp } from './process-stamp.mjs';

/**
 * A lock between processes, as a file that names its holder. Gives the holder's process id if the lock is still taken
 * after `waitMs`, otherwise a function that lets go of it.
 *
 * **Contract:** one holder at a time. A holder that died is found out by its start time, so that a process id that was
 * given again does not keep the lock for ever.
 *
 * @param {string} file
 * @param {{ waitMs: number }} options
 * @returns {Promise<{ heldBy: number } | { release: () => void }>}
 */
export async function takeLock(file, { waitMs }) {
  const giveUpAt = Date.now() + waitMs;
  const mine = `${JSON.stringify({ pid: process.pid, stamp: processStamp(process.pid) })}\n`;
  const own = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  for (;;) {
    if (linkNew(own, file, mine)) return { release: () => removeIfStill(file, mine) };
    const text = readText(file);
    if (text === null) continue;
    const holder = holderOf(text);
    if (holder === null) {
      takeAway(file, text, own);
    } else if (Date.now() >= giveUpAt) {
      return { heldBy: holder };
    } else {
      await sleep(100);
    }
  }
}

/**
 * Puts `text` at `file` unless there is one: link() is atomic, and the file is never seen empty.
 *
 * @param {string} own
 * @param {string} file
 * @param {string} text
 */
function linkNew(own, file, text) {
  writeFileSync(own, text);
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Removes a dead holder's file. Another starter may have done so and hold the lock by now: then what was taken away is
 * not the dead holder's, and goes back.
 *
 * @param {string} file
 * @param {string} expected
 * @param {string} aside
 */
function takeAway(file, expected, aside) {
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const taken = readText(aside);
  if (taken !== null && taken !== expected) linkNew(`${aside}.back`, file, taken);
  rmSync(aside, { force: true });
}

/**
 * @param {string} text
 * @returns {number | null}
 */
function holderOf(text) {
  try {
    const { pid, stamp } = JSON.parse(text);
    return stamp !== null && processStamp(pid) === stamp ? pid : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} file
 * @param {string} mine
 */
function removeIfStill(file, mine) {
  if (readText(file) === mine) rmSync(file, { force: true });
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from './lock.mjs';

/** Takes the lock, adds a line while it is alone, and lets go, or dies with it. */
const CONTENDER = `
  const [lockModule, lock, log, end] = process.argv.slice(1);
  const { appendFileSync } = await import('node:fs');
  const { takeLock } = await import(lockModule);
  const held = await takeLock(lock, { waitMs: 20_000 });
  appendFileSync(log, 'in ');
  await new Promise((resolve) => setTimeout(resolve, 20));
  appendFileSync(log, 'out ');
  if (end === 'die') process.kill(process.pid, 'SIGKILL');
  held.release();
`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tidemark-lock-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

describe('takeLock', () => {
  it('has one holder at a time, also when holders die with it', async () => {
    const log = join(dir, 'log');
    const contend = async (end: string): Promise<void> => {
      const args = [
        '--input-type=module',
        '-e',
        CONTENDER,
        join(import.meta.dirname, 'lock.mjs'),
        join(dir, 'lock'),
        log,
        end,
      ];
      await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
    };
    await Promise.all(['die', 'go', 'die', 'go', 'go', 'die'].map(contend));
    expect(await readFile(log, 'utf8')).toBe('in out '.repeat(6));
  });

  it('says who holds it, and is free after release', async () => {
    const file = join(dir, 'lock');
    const first = await takeLock(file, { waitMs: 0 });
    expect(await takeLock(file, { waitMs: 150 })).toEqual({ heldBy: process.pid });
    if ('release' in first) first.release();
    expect(await takeLock(file, { waitMs: 0 })).toHaveProperty('release');
  });

  it.each([
    [
      'of a process that was given the id of a dead holder',
      JSON.stringify({ pid: process.pid, stamp: 'another start' }),
    ],
    ['that nobody can read', '{'],
  ])('takes over a lock %s', async (_, text) => {
    const file = join(dir, 'lock');
    await writeFile(file, text);
    expect(await takeLock(file, { waitMs: 0 })).toHaveProperty('release');
  });
});

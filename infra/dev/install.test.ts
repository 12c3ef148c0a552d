import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled, runsTypeScript } from './install.mjs';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tidemark-install-'));
  await mkdir(join(root, 'node_modules'));
  await lock({
    '': {},
    'node_modules/pg': { version: '8.1.0' },
    'node_modules/fsevents': { version: '2.0.0', optional: true },
  });
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

const lock = async (packages: object): Promise<void> =>
  writeFile(join(root, 'package-lock.json'), JSON.stringify({ packages }));
const installed = async (packages: object): Promise<void> =>
  writeFile(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));

describe('isInstalled', () => {
  it('is so when npm installed what the lock file says, without the packages of other platforms', async () => {
    expect(isInstalled(root)).toBe(false);
    await installed({ 'node_modules/pg': { version: '8.1.0' } });
    expect(isInstalled(root)).toBe(true);
  });

  it('is not so when the lock file has changed, or an installation was interrupted', async () => {
    await installed({ 'node_modules/pg': { version: '8.0.0' } });
    expect(isInstalled(root)).toBe(false);
    await writeFile(join(root, 'node_modules/.package-lock.json'), '{"packages": {');
    expect(isInstalled(root)).toBe(false);
  });
});

describe('runsTypeScript', () => {
  it.each([
    ['18.20.0', false],
    ['20.20.2', false],
    ['22.17.1', false],
    ['22.18.0', true],
    ['23.5.0', false],
    ['24.0.0', true],
    ['26.10.0', true],
  ])('Node %s: %s', (version, expected) => {
    expect(runsTypeScript(version)).toBe(expected);
  });
});

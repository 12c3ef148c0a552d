import { mkdir, mkdtemp, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { importExtensions } from './load-modules.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(inject('scratch'), 'extensions-'));
});

const setting = (module: string) => ({ module, name: module, options: {}, from: join(folder, 'package.json') });
const load = async (module: string) => await importExtensions([setting(module)]);

async function packageOf(name: string, manifest: object, files: Readonly<Record<string, string>>): Promise<void> {
  const root = join(folder, 'node_modules', name);
  await mkdir(join(root, 'dist'), { recursive: true });
  await writeFile(join(root, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module', ...manifest }));
  for (const [file, text] of Object.entries(files)) await writeFile(join(root, file), text);
}

const EXTENSION = 'export default function loaded() {}';

describe('a module', () => {
  test('is imported anew when its file has changed', async () => {
    const file = join(folder, 'changing.mjs');
    const nameOf = async () => (await load(file)).extensions[0]?.extension.name;
    await writeFile(file, 'export default function one() {}');
    expect(await nameOf()).toBe('one');
    await writeFile(file, 'export default function two() {}');
    await utimes(file, new Date(), new Date(Date.now() + 5_000));
    expect(await nameOf()).toBe('two');
  });

  test.each([
    ['nothing.mjs', null, 'ENOENT'],
    ['broken.mjs', 'export default (', 'Error'],
    ['object.mjs', 'export default {}', 'its default export is no function'],
  ])('that is %s stops no other', async (name, text, error) => {
    const file = join(folder, name);
    if (text !== null) await writeFile(file, text);
    const good = join(folder, 'good.mjs');
    await writeFile(good, EXTENSION);
    const { extensions, unloadable } = await importExtensions([setting(file), setting(good)]);
    expect(extensions.map((extension) => extension.name)).toEqual([good]);
    expect(unloadable).toHaveLength(1);
    expect(String(unloadable[0]?.error)).toContain(error);
  });
});

describe('a package beside the configuration', () => {
  test.each([
    [
      'with exports for import alone',
      'import-only',
      { exports: { '.': { import: './dist/index.js' } } },
      'import-only',
    ],
    ['with one export', 'one-export', { exports: './dist/index.js' }, 'one-export'],
    [
      'with nested conditions',
      'nested',
      { exports: { types: './no.d.ts', node: { import: './dist/index.js' } } },
      'nested',
    ],
    ['with a main file', 'with-main', { main: 'dist/index.js' }, 'with-main'],
    ['of a scope, by a subpath', '@acme/tools', { exports: { './policy': './dist/index.js' } }, '@acme/tools/policy'],
  ])('%s is found', async (_, name, manifest, wanted) => {
    await packageOf(name, manifest, { 'dist/index.js': EXTENSION });
    const { extensions, unloadable } = await load(wanted);
    expect(unloadable).toEqual([]);
    expect(extensions[0]?.extension.name).toBe('loaded');
  });

  test('that is not there, or does not export what is asked for, is told apart', async () => {
    await packageOf('closed', { exports: { './inner': './dist/index.js' } }, { 'dist/index.js': EXTENSION });
    expect(String((await load('closed')).unloadable[0]?.error)).toContain('the package closed exports no .');
    expect(String((await load('absent')).unloadable[0]?.error)).toContain('there is no package absent');
  });
});

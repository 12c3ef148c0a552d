import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../infra/ids.ts';
import { removeThreadFolder } from './remove-thread-folder.ts';

async function folders(): Promise<{ root: string; outside: string }> {
  const base = await mkdtemp(join(tmpdir(), 'tidemark-workspaces-'));
  onTestFinished(async () => await rm(base, { recursive: true }));
  const [root, outside] = [join(base, 'root'), join(base, 'outside')];
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, 'kept.txt'), 'kept');
  return { root, outside };
}

test('removes the folder of the thread and no other, and is safe to repeat', async () => {
  const { root } = await folders();
  const [threadId, other] = [newId('thread'), newId('thread')];
  await mkdir(join(root, threadId, 'deep/er'), { recursive: true });
  await writeFile(join(root, threadId, 'deep/er/file'), 'x');
  await mkdir(join(root, other));
  await removeThreadFolder(root, threadId);
  await removeThreadFolder(root, threadId);
  expect(await readdir(root)).toEqual([other]);
});

test('follows no symbolic link, inside the folder or in its place', async () => {
  const { root, outside } = await folders();
  const [threadId, linked] = [newId('thread'), newId('thread')];
  await mkdir(join(root, threadId));
  await symlink(outside, join(root, threadId, 'out'));
  await symlink(join(outside, 'kept.txt'), join(root, threadId, 'file'));
  await symlink(outside, join(root, linked));
  await removeThreadFolder(root, threadId);
  await removeThreadFolder(root, linked);
  expect(await readdir(root)).toEqual([]);
  expect(await readFile(join(outside, 'kept.txt'), 'utf8')).toBe('kept');
});

test('takes a root that is a link itself, and a root that is not there', async () => {
  const { root, outside } = await folders();
  const threadId = newId('thread');
  await symlink(outside, join(root, 'link'));
  await mkdir(join(outside, threadId));
  await removeThreadFolder(join(root, 'link'), threadId);
  expect(await readdir(outside)).toEqual(['kept.txt']);
  await removeThreadFolder(join(root, 'missing'), threadId);
});

test.each(['..', '.', '', 'thr_', '../outside', 'thr_01a2b3c4-0000-7000-8000-000000000000/..'])(
  'refuses %j, which is no thread id',
  async (name) => {
    const { root } = await folders();
    await expect(removeThreadFolder(root, name)).rejects.toThrow("names no thread's folder");
    expect(await readdir(root)).toEqual([]);
  },
);

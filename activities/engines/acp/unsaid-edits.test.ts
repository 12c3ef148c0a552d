import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { cleared, folder } from '../driver-testkit.ts';
import { ClientFiles } from '../files/client-files.ts';
import { ToolCallPatch } from './open-tools.ts';
import { UnsaidEdits } from './unsaid-edits.ts';

afterEach(cleared);

const LONG_AGO = new Date('2020-01-01');
const RUNNING = { toolCallId: 'c1', kind: 'edit', status: 'in_progress', locations: [{ path: 'a.txt' }] };
const ENDED = { toolCallId: 'c1', status: 'completed' };

/** A workspace whose file `a.txt` was written long ago. */
async function workspace() {
  const root = await folder();
  const file = join(root, 'a.txt');
  await writeFile(file, 'old');
  await utimes(file, LONG_AGO, LONG_AGO);
  const edits = new UnsaidEdits(new ClientFiles(root, [root]));
  return { root, file, take: async (patch: object) => await edits.take(ToolCallPatch.parse(patch)) };
}

describe('of a call whose agent gives no diff', () => {
  test('a change is told when it ends, by the texts before and after it', async () => {
    const { file, take } = await workspace();
    expect(await take({ ...RUNNING, status: 'pending', locations: [] })).toEqual([]);
    expect(await take(RUNNING)).toEqual([]);
    await writeFile(file, 'new');
    expect(await take(RUNNING)).toEqual([]);
    expect(await take(ENDED)).toEqual([{ path: 'a.txt', before: 'old', after: 'new', isDelete: false }]);
    expect(await take(ENDED)).toEqual([]);
  });

  test('what it wrote before it said that it would is not taken for what was there before', async () => {
    const { file, take } = await workspace();
    await writeFile(file, 'new');
    await take(RUNNING);
    expect(await take(ENDED)).toEqual([{ path: 'a.txt', before: undefined, after: 'new', isDelete: false }]);
  });

  test('what the call before it left there is known', async () => {
    const { file, take } = await workspace();
    await take(RUNNING);
    await writeFile(file, 'new');
    await take(ENDED);
    await take({ ...RUNNING, toolCallId: 'c2' });
    await writeFile(file, 'newer');
    expect(await take({ ...ENDED, toolCallId: 'c2' })).toEqual([
      { path: 'a.txt', before: 'new', after: 'newer', isDelete: false },
    ]);
  });

  test('that we were late for, an agent may say that there was no file', async () => {
    const { file, take } = await workspace();
    await writeFile(file, 'new');
    await take(RUNNING);
    const rawOutput = { output: 'Wrote it.', metadata: { exists: false } };
    expect(await take({ ...ENDED, rawOutput })).toEqual([
      { path: 'a.txt', before: null, after: 'new', isDelete: false },
    ]);
  });

  test('a file that is gone was removed, whatever the tool calls itself', async () => {
    const { file, take } = await workspace();
    await take(RUNNING);
    await rm(file);
    expect(await take(ENDED)).toEqual([{ path: 'a.txt', before: 'old', after: null, isDelete: true }]);
  });

  test('one that removes does so also when it was over before we could look', async () => {
    const { file, take } = await workspace();
    await rm(file);
    await take({ ...RUNNING, kind: 'delete' });
    expect(await take(ENDED)).toMatchObject([{ after: null, isDelete: true }]);
  });

  test('nothing is known of a place out of reach', async () => {
    const { root, take } = await workspace();
    const outside = await folder();
    await writeFile(join(outside, 'secret.txt'), 'secret');
    await symlink(outside, join(root, 'link'));
    await mkdir(join(root, 'folder'));
    const paths = ['link/secret.txt', '../secret.txt', 'folder'];
    await take({ ...RUNNING, locations: paths.map((path) => ({ path })) });
    expect(await take(ENDED)).toEqual(
      paths.map((path) => ({ path, before: undefined, after: undefined, isDelete: false })),
    );
  });
});

describe('nothing is told', () => {
  test.each<[string, object, object]>([
    ['of one that gives a diff', { content: [{ type: 'diff', path: 'a.txt', newText: 'new' }] }, ENDED],
    ['of one that only reads', { kind: 'read' }, ENDED],
    ['of one that failed', {}, { ...ENDED, status: 'failed' }],
  ])('%s', async (_, more, end) => {
    const { file, take } = await workspace();
    await take({ ...RUNNING, ...more });
    await writeFile(file, 'new');
    expect(await take(end)).toEqual([]);
  });
});

import { access, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FRAME_LIMIT_BYTES } from '../../../contract/frames.ts';
import { cleared, folder, isAlive } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('the files of the client', () => {
  test('are those of the workspace: they are read by line and written with their folders', async () => {
    const at = await stage();
    await writeFile(join(at.workspace, 'a.txt'), 'one\ntwo\nthree\n');
    await turn(at, 'read a.txt\nwrite deep/b.txt');
    expect(at.said()).toBe('two\nwritten');
    expect(await readFile(join(at.workspace, 'deep/b.txt'), 'utf8')).toBe('by the agent');
  });

  test('outside of it are out of reach, by name and through a link', async () => {
    const at = await stage();
    const outside = await folder();
    await symlink(outside, join(at.workspace, 'link'));
    await turn(
      at,
      `write ../escaped.txt\nwrite ${outside}/direct.txt\nwrite link/through.txt\nread /etc/passwd\nread none.txt`,
    );
    expect(at.said()).toBe('refused -32602refused -32602refused -32602refused -32602refused -32002');
    await expect(access(join(outside, 'through.txt'))).rejects.toThrow('ENOENT');
  });
});

describe('a terminal', () => {
  test('runs in the workspace, and gives both outputs and the exit', async () => {
    const at = await stage();
    await turn(at, 'terminal pwd; echo fault >&2; exit 3');
    expect(JSON.parse(at.said())).toEqual({
      exitCode: 3,
      signal: null,
      truncated: false,
      output: `${at.workspace}\nfault\n`,
    });
  });

  test('keeps the end of a long output', async () => {
    const at = await stage();
    await turn(at, 'terminal seq 1 5000');
    const { output, truncated } = JSON.parse(at.said()) as { output: string; truncated: boolean };
    expect(truncated).toBe(true);
    expect(output.length).toBeLessThanOrEqual(1_000);
    expect(output.endsWith('4999\n5000\n')).toBe(true);
  });

  test('is dead when the engine is closed', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const ended = driver.prompt('command echo $$ > pid; exec sleep 1000');
    const pid = async () => Number(await readFile(join(at.workspace, 'pid'), 'utf8').catch(() => '0'));
    await vi.waitFor(async () => expect(await pid()).toBeGreaterThan(0), { timeout: 20_000 });
    const sleeping = await pid();
    expect(await isAlive(sleeping)).toBe(true);
    at.abort.abort();
    await ended;
    await driver.close();
    expect(await isAlive(sleeping)).toBe(false);
  });

  test('has none of the keys that the agent was given', async () => {
    const at = await stage();
    const driver = at.driver([], { env: { SCRIPTED_KEY: 'secret' } });
    await driver.open(null);
    await driver.prompt('environment SCRIPTED_KEY\nterminal echo "key:$SCRIPTED_KEY"');
    expect(at.said()).toContain('secret');
    expect(at.said()).toContain('key:\\n');
  });
});

describe('what is large', () => {
  test('as text comes in several frames, whole', async () => {
    const at = await stage();
    await turn(at, 'long 10000');
    expect(at.updates('agent_message_chunk')).toHaveLength(3);
    expect(at.said()).toBe('x'.repeat(10_000));
  });

  test('as a tool gives it is kept, and the frame shows its beginning', async () => {
    const at = await stage();
    await turn(at, 'tool 100000');
    expect(at.kept).toMatchObject([
      { name: 'output-call-1.txt', contentType: 'text/plain; charset=utf-8', text: 'o'.repeat(100_000) },
    ]);
    const last = at.frames.findLast(({ kept }) => kept !== undefined);
    expect(last).toMatchObject({ kept: { output: { name: 'output-call-1.txt' } } });
    for (const frame of at.frames) expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(FRAME_LIMIT_BYTES);
  });

  test('or not, a change of a file is kept as a diff by its path in the workspace', async () => {
    const at = await stage();
    await mkdir(join(at.workspace, 'src'));
    await writeFile(join(at.workspace, 'src/a.txt'), 'old\n');
    await turn(at, 'edit src/a.txt');
    expect(at.kept).toHaveLength(1);
    expect(at.kept[0]).toMatchObject({ name: 'a.txt.diff', contentType: 'text/x-diff' });
    expect(at.kept[0]?.text).toContain('--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n');
    const diffs = [{ path: 'src/a.txt', changeType: 'edit', diff: { name: 'a.txt.diff' } }];
    const withDiffs = at.frames.filter(({ kept }) => kept !== undefined);
    expect(withDiffs.map(({ type }) => type)).toEqual(['session/update', 'fs/write_text_file', 'session/update']);
    for (const frame of withDiffs) expect(frame['kept']).toMatchObject({ diffs });
  });

  test.each([
    ['creates', null, 'overwrite a.txt new', 'create', '@@ -0,0 +1,1 @@\n+new\n'],
    ['changes', 'old\nlast\n', 'overwrite a.txt new', 'edit', '@@ -1,2 +1,1 @@\n-old\n-last\n+new\n'],
    ['removes', 'old\n', 'overwrite a.txt', 'delete', '@@ -1,1 +0,0 @@\n-old\n'],
  ])('is kept of a file that a tool %s and gives no diff of', async (_, before, script, changeType, lines) => {
    const at = await stage();
    if (before !== null) {
      await writeFile(join(at.workspace, 'a.txt'), before);
      await utimes(join(at.workspace, 'a.txt'), new Date(0), new Date(0));
    }
    await turn(at, script);
    expect(at.kept).toMatchObject([{ name: 'a.txt.diff', text: expect.stringContaining(lines) as string }]);
    const withDiffs = at.frames.filter(({ kept }) => kept !== undefined);
    expect(withDiffs).toMatchObject([{ kept: { diffs: [{ path: 'a.txt', changeType, diff: {} }] } }]);
  });

  test('is not made of a file that is written as it is', async () => {
    const at = await stage();
    await writeFile(join(at.workspace, 'a.txt'), 'by the agent');
    await turn(at, 'write a.txt');
    expect(at.frame('fs/write_text_file')).toMatchObject({ kept: { diffs: [] } });
    expect(at.kept).toEqual([]);
  });
});

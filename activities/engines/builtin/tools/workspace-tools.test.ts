import { mkdir, mkdtemp, readdir, readFile as readBytes, rm, stat, symlink, writeFile as put } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../../../contract/agent-messages.ts';
import { builtinTools } from './registry.ts';
import type { ToolContext, ToolLimits } from './tool.ts';
import { toolContext } from './tool-testkit.ts';

let outside: string;
let workspace: string;

beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'tidemark-tools-'));
  workspace = join(outside, 'workspaces', 'run');
  await put(join(outside, 'secret.txt'), 'secret');
});
afterEach(async () => await rm(outside, { recursive: true, force: true }));

function context(limits: Partial<ToolLimits> = {}, signal = new AbortController().signal): ToolContext {
  return toolContext({ workspace, signal, limits });
}

async function run(name: string, args: object, given = context()) {
  const tool = builtinTools().get(name);
  if (tool?.kind !== 'execute') throw new Error(`${name} cannot be executed`);
  const result = await tool.execute(args, given);
  return { text: textOf(result.content), isError: result.isError, details: result.details };
}

const ESCAPES = [
  '../secret.txt',
  '../../secret.txt',
  'a/../../../secret.txt',
  '/etc/passwd',
  '//etc/passwd',
  '..',
  'a/../..',
  'C:\\x',
  'C:/x',
  '..\\secret.txt',
  'a\u0000b',
  'a\nb',
  'a\u200Bb',
  'a\u202Eb',
  '\ud800',
];

describe('a path that leaves the workspace', () => {
  it.each(ESCAPES)('%j is refused for reading, listing and writing', async (path) => {
    for (const [name, args] of [
      ['read_file', { path }],
      ['list_files', { path }],
      ['write_file', { path, content: 'x' }],
    ] as const) {
      const result = await run(name, args);
      expect(result.isError).toBe(true);
      expect(result.text).toMatch(/^error: .+; (use|put) /);
      expect(result.text).not.toContain(outside);
    }
    expect(await readBytes(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
  });

  it('through a symbolic link is refused, be it the file, a folder on the way, or a link to nothing', async () => {
    await mkdir(workspace, { recursive: true });
    await symlink(join(outside, 'secret.txt'), join(workspace, 'file'));
    await symlink(outside, join(workspace, 'folder'));
    await symlink(join(outside, 'new.txt'), join(workspace, 'dangling'));
    await symlink('/proc/self/fd', join(workspace, 'fds'));
    for (const path of ['file', 'folder/secret.txt', 'folder/new.txt', 'folder/a/b.txt', 'dangling', 'fds/0']) {
      expect(await run('read_file', { path })).toMatchObject({ isError: true });
      expect(await run('write_file', { path, content: 'overwritten' })).toMatchObject({ isError: true });
    }
    expect(await run('list_files', { path: 'folder' })).toMatchObject({ isError: true });
    expect(await readBytes(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
    expect((await readdir(outside)).toSorted()).toEqual(['secret.txt', 'workspaces']);
  });

  it('is not refused for a link that stays inside', async () => {
    await run('write_file', { path: 'real/a.txt', content: 'inside' });
    await symlink('real', join(workspace, 'link'));
    expect(await run('read_file', { path: 'link/a.txt' })).toMatchObject({ isError: false, text: 'inside' });
  });
});

describe('write_file', () => {
  it('creates a file and its folders, replaces it, and tells what it changed', async () => {
    expect(await run('write_file', { path: './notes//a.txt', content: 'one' })).toEqual({
      text: 'created notes/a.txt (3 bytes)',
      isError: false,
      details: { path: 'notes/a.txt', changeType: 'create', bytes: 3 },
    });
    expect(await run('write_file', { path: 'notes/a.txt', content: 'zwei ñ🌍' })).toMatchObject({
      text: 'replaced notes/a.txt (11 bytes)',
      details: { changeType: 'edit' },
    });
    expect(await readBytes(join(workspace, 'notes/a.txt'), 'utf8')).toBe('zwei ñ🌍');
    expect(await readdir(join(workspace, 'notes'))).toEqual(['a.txt']);
    expect((await stat(workspace)).mode & 0o777).toBe(0o700);
  });

  it('keeps the mode of the file that it replaces', async () => {
    await run('write_file', { path: 'run.sh', content: 'a' });
    execFileSync('chmod', ['755', join(workspace, 'run.sh')]);
    await run('write_file', { path: 'run.sh', content: 'b' });
    expect((await stat(join(workspace, 'run.sh'))).mode & 0o777).toBe(0o755);
  });

  it.each([
    ['.', 'names the workspace itself'],
    ['folder', 'is a folder'],
    ['file/x', 'has a part that is a file'],
    ['pipe', 'is not a regular file'],
    [`${'n'.repeat(300)}.txt`, 'is too long'],
  ])('to %s is refused: %s', async (path, reason) => {
    await run('write_file', { path: 'folder/x', content: '' });
    await run('write_file', { path: 'file', content: '' });
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    const result = await run('write_file', { path, content: 'x' });
    expect(result).toMatchObject({ isError: true });
    expect(result.text).toContain(reason);
  });

  it('over the limit is refused and nothing is left behind', async () => {
    const result = await run('write_file', { path: 'a.txt', content: 'ññ' }, context({ writeBytes: 3 }));
    expect(result.text).toBe('error: the content has 4 bytes and 3 are allowed; write less, or several files');
    expect(await run('list_files', {})).toMatchObject({ text: '(the workspace is empty)' });
  });

  it('throws when it is stopped, and only then', async () => {
    await expect(run('write_file', { path: 'a', content: '' }, context({}, AbortSignal.abort()))).rejects.toThrow(
      /aborted/,
    );
    expect(await run('list_files', {})).toMatchObject({ text: '(the workspace is empty)' });
  });
});

describe('read_file', () => {
  it('reads text, an empty file, and says what is missing', async () => {
    await run('write_file', { path: 'a.txt', content: '\uFEFFñ\r\n🌍' });
    await run('write_file', { path: 'empty', content: '' });
    expect(await run('read_file', { path: 'a.txt' })).toMatchObject({ isError: false, text: '\uFEFFñ\r\n🌍' });
    expect(await run('read_file', { path: 'empty' })).toMatchObject({ isError: false, text: '(the file is empty)' });
    expect((await run('read_file', { path: 'b.txt' })).text).toBe(
      'error: b.txt does not exist; list_files shows what does',
    );
    expect((await run('read_file', { path: '.' })).text).toMatch(/is a folder; list_files/);
  });

  it('reads a long file in parts that join to the whole, whatever characters they cut', async () => {
    const whole = 'aé你🌍'.repeat(50);
    await run('write_file', { path: 'long.txt', content: whole });
    for (const limit of [1, 16, 17, 18, 19, 100]) {
      let [text, offset] = ['', 0];
      for (let part = 0; part < 100; part++) {
        const result = await run('read_file', { path: 'long.txt', offset, limit });
        expect(result.isError).toBe(false);
        const more = /\n\[bytes \d+ to \d+ of 500; go on with offset (\d+)\]$/.exec(result.text);
        text += more === null ? result.text : result.text.slice(0, more.index);
        if (more === null) break;
        offset = Number(more[1]);
      }
      expect(text).toBe(whole);
    }
    expect((await run('read_file', { path: 'long.txt', offset: 501 })).text).toMatch(
      /has 500 bytes; use a smaller offset/,
    );
    expect((await run('read_file', { path: 'long.txt', offset: 3, limit: 16 })).text).toMatch(/^你/);
  });

  it('refuses what is not UTF-8 text, and a pipe without waiting for its writer', async () => {
    await run('list_files', {});
    await put(join(workspace, 'latin1'), Buffer.from([0x61, 0xf1, 0x62]));
    await put(join(workspace, 'nul'), Buffer.from('a\0b'));
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    for (const path of ['latin1', 'nul']) expect((await run('read_file', { path })).text).toMatch(/is not UTF-8 text/);
    expect((await run('read_file', { path: 'pipe' })).text).toMatch(/is not a regular file/);
  });
});

describe('list_files', () => {
  it('shows names, sizes and kinds, sorted, below too when asked', async () => {
    await run('write_file', { path: 'b/inner/c.txt', content: 'abc' });
    await run('write_file', { path: 'a file.txt', content: 'x' });
    await symlink('/etc', join(workspace, 'link'));
    await put(join(workspace, '.tidemark-00000000-0000-4000-8000-000000000000.tmp'), '');
    expect((await run('list_files', {})).text).toBe('"a file.txt" 1 bytes\nb/\nlink (symbolic link)');
    expect((await run('list_files', { path: 'b', recursive: true })).text).toBe('inner/\ninner/c.txt 3 bytes');
    expect((await run('list_files', { path: 'b/inner/c.txt' })).text).toMatch(/is a file; read_file reads it/);
    expect((await run('list_files', { path: 'z' })).text).toMatch(/does not exist/);
  });

  it('is bounded and says how much it leaves out', async () => {
    for (let n = 0; n < 5; n++) await run('write_file', { path: `f${String(n)}`, content: '' });
    const result = await run('list_files', {}, context({ listEntries: 2 }));
    expect(result.text).toBe('f0 0 bytes\nf1 0 bytes\n[3 not shown; list one of the folders]');
  });
});

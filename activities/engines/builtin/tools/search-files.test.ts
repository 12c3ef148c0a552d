import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../../../contract/agent-messages.ts';
import { searchFiles } from './search-files.ts';
import type { ToolLimits } from './tool.ts';
import { toolContext } from './tool-testkit.ts';

let outside = '';
let workspace = '';

beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'tidemark-search-'));
  workspace = join(outside, 'run');
});
afterEach(async () => await rm(outside, { recursive: true, force: true }));

async function put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const place = join(workspace, name);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, content);
  }
}

async function search(args: object, limits: Partial<ToolLimits> = {}, signal = new AbortController().signal) {
  const { content, isError } = await searchFiles.execute(args, toolContext({ workspace, limits, signal }));
  return { lines: textOf(content).split('\n'), isError };
}

describe('a search', () => {
  it('gives path, line number and line of each match, files in the order of their names', async () => {
    await put({
      'b.txt': 'nothing\r\n  the needle, here\r\nneedle\r\n',
      'a/two words.md': 'a needle',
      'a/inner/x.ts': 'Needle',
    });
    expect(await search({ pattern: 'needle' })).toEqual({
      isError: false,
      lines: ['"a/two words.md":1: a needle', 'b.txt:2:   the needle, here', 'b.txt:3: needle'],
    });
    expect((await search({ pattern: 'NEEDLE', ignore_case: true, path: 'a' })).lines).toEqual([
      'a/inner/x.ts:1: Needle',
      '"a/two words.md":1: a needle',
    ]);
    expect((await search({ pattern: 'needle', path: 'b.txt' })).lines).toHaveLength(2);
    expect((await search({ pattern: 'absent' })).lines).toEqual(['(no line matches)']);
  });

  it('takes its pattern literally, unless it is a regular expression', async () => {
    await put({ 'a.txt': 'a.b\naxb\nf(x)\n$10' });
    expect((await search({ pattern: 'a.b' })).lines).toEqual(['a.txt:1: a.b']);
    expect((await search({ pattern: '^A.b$', regex: true, ignore_case: true })).lines).toEqual([
      'a.txt:1: a.b',
      'a.txt:2: axb',
    ]);
    expect((await search({ pattern: 'f(x)' })).lines).toEqual(['a.txt:3: f(x)']);
    expect((await search({ pattern: '$1' })).lines).toEqual(['a.txt:4: $10']);
    expect(await search({ pattern: 'f(', regex: true })).toMatchObject({
      isError: true,
      lines: [expect.stringMatching(/^error: the pattern cannot be used: Invalid regular expression/)],
    });
  });

  it('looks only at the files that a glob names, by their names or by their paths', async () => {
    await put({ 'src/a.ts': 'x', 'src/deep/b.ts': 'x', 'c.ts': 'x', 'src/d.js': 'x' });
    const found = async (glob: string, path?: string) =>
      (await search({ pattern: 'x', glob, ...(path === undefined ? {} : { path }) })).lines.map(
        (line) => line.split(':')[0],
      );
    expect(await found('*.ts')).toEqual(['c.ts', 'src/a.ts', 'src/deep/b.ts']);
    expect(await found('src/**/*.ts')).toEqual(['src/a.ts', 'src/deep/b.ts']);
    expect(await found('src/*.{js,ts}', 'src')).toEqual(['src/a.ts', 'src/d.js']);
  });

  it('leaves out what is no text, is too large, or is made by machines, and says so', async () => {
    await put({
      'image.bin': Buffer.from('needle\0'),
      'large.txt': `needle${'x'.repeat(200)}`,
      '.git/config': 'needle',
      'node_modules/p/index.js': 'needle',
      '.tidemark-00000000-0000-4000-8000-000000000000.tmp': 'needle',
      '.env.example': 'needle',
    });
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    expect((await search({ pattern: 'needle' }, { searchFileBytes: 100 })).lines).toEqual([
      '.env.example:1: needle',
      '[not searched: 2 files that are no text or over 100 bytes]',
    ]);
    expect((await search({ pattern: 'needle', path: 'node_modules' })).lines).toEqual([
      'node_modules/p/index.js:1: needle',
    ]);
  });

  it('never leaves the workspace', async () => {
    await put({ 'a.txt': 'inside' });
    await writeFile(join(outside, 'secret.txt'), 'secret');
    await symlink(outside, join(workspace, 'folder'));
    await symlink(join(outside, 'secret.txt'), join(workspace, 'file'));
    expect((await search({ pattern: 'secret' })).lines).toEqual(['(no line matches)']);
    for (const path of ['folder', 'file', '..'])
      expect(await search({ pattern: 'secret', path })).toMatchObject({ isError: true });
    expect((await search({ pattern: 'x', path: 'nowhere' })).lines).toEqual([
      'error: nowhere does not exist; list_files shows what does',
    ]);
  });
});

describe('a bound', () => {
  const more = '[there may be more; use a longer pattern, a glob, or search a folder]';

  it('of matches, files or bytes ends the search, which says that there may be more', async () => {
    await put({ 'a.txt': 'x\nx\nx', 'b.txt': 'x', 'c.txt': 'x' });
    expect((await search({ pattern: 'x' }, { searchMatches: 2 })).lines).toEqual(['a.txt:1: x', 'a.txt:2: x', more]);
    expect((await search({ pattern: 'x', glob: '[bc]*' }, { searchFiles: 2 })).lines).toEqual(['b.txt:1: x', more]);
    expect((await search({ pattern: 'x' }, { searchBytes: 5 })).lines.slice(3)).toEqual(['b.txt:1: x', more]);
    expect((await search({ pattern: 'x' }, { searchMatches: 5, searchFiles: 3, searchBytes: 7 })).lines).not.toContain(
      more,
    );
  });

  it('of a line cuts it', async () => {
    await put({ 'a.txt': `x${'🌍'.repeat(1_000)}` });
    const [line = ''] = (await search({ pattern: 'x' })).lines;
    expect(line.length).toBeLessThan(320);
    expect(line.isWellFormed()).toBe(true);
  });

  it('of time ends a hostile pattern, what was found until then is told, and nothing else waits for it', async () => {
    await put({ 'a.txt': 'aaaa', 'b.txt': `${'a'.repeat(60)}!` });
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 10);
    const { lines, isError } = await search({ pattern: '^(a+)+$', regex: true }, { searchTimeoutMs: 5_000 });
    clearInterval(ticking);
    expect(isError).toBe(false);
    expect(lines).toEqual([
      'a.txt:1: aaaa',
      '[stopped after 5 seconds: there may be more; use a simpler pattern, or search a folder]',
    ]);
    expect(ticks).toBeGreaterThan(10);
  });

  it('of time holds for a hostile glob, too', async () => {
    await put({ [`${'a'.repeat(120)}.txt`]: 'x' });
    const { lines } = await search({ pattern: 'x', glob: `${'*a'.repeat(60)}b` }, { searchTimeoutMs: 5_000 });
    expect(lines[0]).toBe('(no line matches)');
  });

  it('an abort ends it, and throws its reason', async () => {
    await put({ 'b.txt': `${'a'.repeat(60)}!` });
    const stopping = new AbortController();
    const reason = new Error('the run is cancelled');
    const searching = search({ pattern: '^(a+)+$', regex: true }, {}, stopping.signal);
    const thrown = searching.catch((error: unknown) => error);
    setTimeout(() => stopping.abort(reason), 300);
    expect(await thrown).toBe(reason);
  });
});

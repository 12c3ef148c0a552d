import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../../../contract/agent-messages.ts';
import { editFile } from './edit-file.ts';
import { toolContext } from './tool-testkit.ts';

let workspace = '';
const place = () => join(workspace, 'a.txt');

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'tidemark-edit-'));
});
afterEach(async () => await rm(workspace, { recursive: true, force: true }));

async function edit(text: string | Buffer, oldText: string, newText: string, more: object = {}, writeBytes = 1_000) {
  await writeFile(place(), text);
  const args = { path: 'a.txt', old_text: oldText, new_text: newText, ...more };
  const { content, ...rest } = await editFile.execute(args, toolContext({ workspace, limits: { writeBytes } }));
  return { said: textOf(content), now: await readFile(place(), 'utf8'), ...rest };
}

describe('an edit', () => {
  it('replaces the one place, and tells what it changed', async () => {
    const { diff, ...edited } = await edit('one\ntwo\nthree\n', 'two\n', 'zwei ñ\n');
    expect(edited).toEqual({
      said: 'edited a.txt in 1 place (18 bytes)',
      now: 'one\nzwei ñ\nthree\n',
      isError: false,
      details: { path: 'a.txt', changeType: 'edit', bytes: 18 },
    });
    expect(diff).toMatch(/^-two\n\+zwei ñ$/m);
  });

  it('replaces every place when it is told to, and takes new text literally', async () => {
    const { said, now } = await edit('a-a-a', 'a', '$&$1', { all: true });
    expect({ said, now }).toEqual({ said: 'edited a.txt in 3 places (14 bytes)', now: '$&$1-$&$1-$&$1' });
  });

  it('may leave nothing', async () => {
    expect(await edit('all of it', 'all of it', '')).toMatchObject({ isError: false, now: '' });
  });

  it('keeps the mode of the file and leaves nothing beside it', async () => {
    await writeFile(place(), 'x');
    execFileSync('chmod', ['755', place()]);
    await edit('x', 'x', 'y');
    expect((await stat(place())).mode & 0o777).toBe(0o755);
    expect(await readdir(workspace)).toEqual(['a.txt']);
  });
});

describe('an edit that is refused', () => {
  it.each([
    ['text that is not there', 'one', 'two', /old_text is not in a\.txt; read_file shows what is/],
    ['a text that differs in its line ends', 'a\r\nb', 'a\nb', /is not in a\.txt/],
    ['a text that is there twice', 'a b a', 'a', /more than once; give more of the text around it, or set all/],
    ['a text whose places overlap', 'aaa', 'aa', /more than once/],
    ['no change', 'one', 'new', /^error: old_text and new_text are the same/],
  ])('for %s leaves the file as it is', async (_what, text, oldText, error) => {
    const { said, now, isError } = await edit(text, oldText, 'new');
    expect(isError).toBe(true);
    expect(said).toMatch(error);
    expect(now).toBe(text);
  });

  it('for what it would come to, or what the file is', async () => {
    expect(await edit('aaaa', 'a', 'x'.repeat(10), { all: true }, 39)).toMatchObject({
      said: 'error: the file would have 40 bytes and 39 are allowed; use a shorter new_text',
      now: 'aaaa',
    });
    expect((await edit('aaaa', 'a', 'b', {}, 3)).said).toMatch(/has 4 bytes; files up to 3 can be edited/);
    expect((await edit(Buffer.from([0x61, 0xff]), 'a', 'b')).said).toMatch(/is not UTF-8 text/);
    const folder = await editFile.execute({ path: '.', old_text: 'a', new_text: 'b' }, toolContext({ workspace }));
    expect(textOf(folder.content)).toMatch(/is a folder/);
  });
});

it('an edit is described by its file, and by what is replaced by what', () => {
  const args = { path: 'notes/a.txt', old_text: 'old\nline', new_text: 'n'.repeat(100) };
  expect(editFile.describe(args)).toBe(`Edit notes/a.txt: "old\\nline" → "${'n'.repeat(30)}…"`);
  expect(editFile.describe({ ...args, all: true })).toContain('all "old');
});

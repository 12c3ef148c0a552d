import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { textOf } from '../../../../contract/agent-messages.ts';
import { saveArtifact } from './save-artifact.ts';
import { toolContext } from './tool-testkit.ts';

let workspace = '';

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'tidemark-save-'));
});
afterEach(async () => await rm(workspace, { recursive: true, force: true }));

async function save(args: object, artifactBytes = 1_000) {
  const { content, ...rest } = await saveArtifact.execute(args, toolContext({ workspace, limits: { artifactBytes } }));
  return { said: textOf(content), ...rest };
}

it('a file is kept as it is, under its own name and type, and the result names the artifact', async () => {
  await mkdir(join(workspace, 'out'));
  const content = Buffer.from([0x89, 0x50, 0, 0xff]);
  await writeFile(join(workspace, 'out', 'plot.PNG'), content);
  const { said, isError, details, saved } = await save({ path: 'out/plot.PNG' });
  expect(isError).toBe(false);
  expect(said).toMatch(/^kept plot\.PNG as artifact art_[0-9a-f]{32} \(4 bytes\)$/);
  expect(said).toContain((details as { artifactId: string }).artifactId);
  expect(saved).toEqual({ name: 'plot.PNG', contentType: 'image/png', content });
});

it('a text is kept under the name and the type that are given', async () => {
  const { saved } = await save({ text: 'a;b\nñ', name: 'täglich.csv', content_type: 'text/csv; charset=utf-8' });
  expect(saved).toEqual({
    name: 'täglich.csv',
    contentType: 'text/csv; charset=utf-8',
    content: Buffer.from('a;b\nñ'),
  });
  expect((await save({ text: 'a', name: 'x.unknown' })).saved?.contentType).toBe('application/octet-stream');
  expect((await save({ text: 'a' })).saved).toMatchObject({
    name: 'artifact.txt',
    contentType: 'text/plain; charset=utf-8',
  });
});

it('the same content has the same id, whatever its name', async () => {
  const [one, other] = [await save({ text: 'same', name: 'a' }), await save({ text: 'same', name: 'b' })];
  expect(one.details).toEqual(other.details);
});

it.each([
  [{}, /give either path or text/],
  [{ path: 'a.txt', text: 'x' }, /give either path or text/],
  [{ path: 'missing.txt' }, /does not exist/],
  [{ path: '.', name: 'folder' }, /is a folder/],
  [{ path: '.' }, /is no name for a file/],
  [{ text: 'x', name: 'a/b' }, /"a\/b" is no name for a file/],
  [{ text: 'x', name: 'a\nb' }, /is no name for a file/],
  [{ text: 'x', name: '..' }, /is no name for a file/],
  [{ text: 'ñ'.repeat(501) }, /has 1002 bytes and 1000 are allowed; save it in parts/],
])('%j is refused', async (args, error) => {
  await writeFile(join(workspace, 'a.txt'), 'x');
  const { said, isError, saved } = await save(args);
  expect(isError).toBe(true);
  expect(said).toMatch(error);
  expect(saved).toBeUndefined();
});

it('a file over the limit is not read whole', async () => {
  await writeFile(join(workspace, 'a.txt'), 'x'.repeat(2_000));
  expect((await save({ path: 'a.txt' })).said).toMatch(/has 2000 bytes and 1000 are allowed/);
});

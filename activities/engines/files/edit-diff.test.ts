import { expect, test } from 'vitest';
import { editDiffOf } from './edit-diff.ts';

const edit = { path: '/w/a.txt', before: 'old\n', after: 'new\n', isDelete: false };
const diffOf = (change: Partial<typeof edit> | object) => editDiffOf({ ...edit, ...change }, ['/w']);

test.each([
  ['an edit', {}, 'edit', '-old\n+new\n'],
  ['a new file', { before: null }, 'create', '@@ -0,0 +1,1 @@\n+new\n'],
  ['a file that is gone', { after: null, isDelete: true }, 'delete', '@@ -1,1 +0,0 @@\n-old\n'],
])('of %s there is a unified diff, by the path in the workspace', (_, change, changeType, lines) => {
  const { text, ...told } = diffOf(change);
  expect(told).toEqual({ path: 'a.txt', changeType });
  expect(text).toContain('--- a/a.txt');
  expect(text?.endsWith(lines)).toBe(true);
});

test.each([
  ['a text that nobody knows', { before: undefined }],
  ['a file that may not be read any more', { after: undefined }],
  ['no change at all', { after: 'old\n' }],
  ['texts that are too large to compare', { before: 'x'.repeat(4_000_001) }],
])('of %s there is none', (_, change) => {
  expect(diffOf(change)).toEqual({ path: 'a.txt', changeType: 'edit', text: null });
});

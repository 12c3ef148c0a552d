import { applyPatch, parsePatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { fileChangesOf } from './file-changes.ts';
import { unifiedDiff } from './unified-diff.ts';

/** The diff of the one file that Codex says it has changed. */
function diffOf(kind: 'add' | 'delete' | 'update', diff: string): string {
  return fileChangesOf([{ path: 'note.txt', kind: { type: kind, move_path: null }, diff }])
    .map(unifiedDiff)
    .join('');
}

describe('a change that Codex tells as', () => {
  it('the text of a file that it added is a diff from nothing', () => {
    expect(applyPatch('', diffOf('add', '@@ one\ntwo\n'))).toBe('@@ one\ntwo\n');
  });

  it('the text of a file that it deleted is a diff to nothing', () => {
    expect(applyPatch('one\n', diffOf('delete', 'one\n'))).toBe('');
  });

  it('hunks is a diff that names its file', () => {
    const diff = diffOf('update', '@@ -1 +1 @@\n-hello\n+goodbye\n');
    expect(parsePatch(diff)).toMatchObject([{ oldFileName: 'a/note.txt', newFileName: 'b/note.txt' }]);
    expect(applyPatch('hello\n', diff)).toBe('goodbye\n');
  });
});

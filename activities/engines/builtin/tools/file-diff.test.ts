import { describe, expect, it } from 'vitest';
import { fileDiff } from './file-diff.ts';

describe('what a write changes', () => {
  it('is a unified diff, of a file that is new too', () => {
    expect(fileDiff('a.txt', 'one\ntwo\n', 'one\n2\n')).toContain('@@ -1,2 +1,2 @@\n one\n-two\n+2\n');
    expect(fileDiff('a.txt', null, 'new\n')).toMatch(/^@@ -0,0 \+1.* @@\n\+new$/m);
  });

  it('is not shown of what is large, too different, or no text', () => {
    expect(fileDiff('a', 'x'.repeat(600_000), 'y')).toBeNull();
    const lines = (letter: string) => Array.from({ length: 3_000 }, (_, i) => `${letter}${String(i)}\n`).join('');
    expect(fileDiff('a', lines('a'), lines('b'))).toBeNull();
    expect(fileDiff('a', '\uFFFD', 'y')).toBeNull();
  });
});

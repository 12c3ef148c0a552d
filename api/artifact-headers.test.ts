import { describe, expect, it } from 'vitest';
import { namesTag, safeFileName } from './artifact-headers.ts';

describe('a file name', () => {
  it.each([
    ['read_file-3.txt', 'read_file-3.txt'],
    ['../../etc/passwd', 'etc_passwd'],
    ['a"; filename="b.exe', 'a_filename_b.exe'],
    ['a\r\nSet-Cookie: x', 'a_Set-Cookie_x'],
    ['.htaccess', 'htaccess'],
    ['ñ你.txt', 'txt'],
    [`${'x'.repeat(300)}.txt`, `${'x'.repeat(96)}.txt`],
    ['你', 'art_0'],
    ['', 'art_0'],
    ['..', 'art_0'],
  ])('%j becomes %j', (name, safe) => {
    expect(safeFileName(name, 'art_0')).toBe(safe);
  });
});

describe('If-None-Match', () => {
  it.each(['"abc"', 'W/"abc"', '"x", "abc"', '*', ' "abc" '])('%j names the tag', (header) => {
    expect(namesTag(header, '"abc"')).toBe(true);
  });
  it.each([undefined, '', 'abc', '"abcd"', '"x"'])('%j does not', (header) => {
    expect(namesTag(header, '"abc"')).toBe(false);
  });
});

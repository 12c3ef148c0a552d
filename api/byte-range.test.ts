import { describe, expect, it } from 'vitest';
import { byteRange } from './byte-range.ts';

describe('a Range', () => {
  it.each([
    ['bytes=0-0', 10, { first: 0, last: 0 }],
    ['bytes=2-5', 10, { first: 2, last: 5 }],
    ['BYTES=9-', 10, { first: 9, last: 9 }],
    ['bytes=0-99', 10, { first: 0, last: 9 }],
    ['bytes=-3', 10, { first: 7, last: 9 }],
    ['bytes=-99', 10, { first: 0, last: 9 }],
    [`bytes=0-${'9'.repeat(400)}`, 10, { first: 0, last: 9 }],
  ])('%s of %i bytes is %j', (header, bytes, span) => {
    expect(byteRange(header, bytes)).toEqual(span);
  });

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=-1', 0],
    [`bytes=${'9'.repeat(400)}-`, 10],
  ])('%s of %i bytes cannot be satisfied', (header, bytes) => {
    expect(byteRange(header, bytes)).toBe('unsatisfiable');
  });

  it.each([undefined, '', 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=a-b', 'bytes=1-2,4-5', 'lines=1-2', 'bytes=1.5-2'])(
    '%j is left aside',
    (header) => {
      expect(byteRange(header, 10)).toBeNull();
    },
  );
});

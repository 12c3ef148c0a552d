import { describe, expect, test } from 'vitest';
import { fc } from '../../../contract/property-testkit.ts';
import { appendedOutput } from './appended-output.ts';

describe('what is new in an output', () => {
  test.each([
    ['is all of a first one', '', 'tick 1\n', 'tick 1\n'],
    ['is the end of one that grew', 'tick 1\n', 'tick 1\ntick 2\n', 'tick 2\n'],
    ['is nothing where nothing came', 'tick 1\n', 'tick 1\n', ''],
    ['begins behind a mark where a part was never seen', 'tick 1\n', 'tick 9\n', '[…]\ntick 9\n'],
  ])('%s', (_, before, now, news) => {
    expect(appendedOutput(before, now)).toBe(news);
  });

  test('is said once though only the end of the output is given', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 300, max: 500 }), (pieces, window) => {
        let [all, before, said] = ['', '', ''];
        pieces.forEach((length, n) => {
          all += Array.from({ length }, (_, i) => `${String(n)}.${String(i)}\n`)
            .join('')
            .slice(0, 90);
          const now = all.slice(-window);
          said += appendedOutput(before, now);
          before = now;
        });
        expect(said).toBe(all);
      }),
    );
  });
});

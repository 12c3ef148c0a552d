import { fc } from '../../contract/property-testkit.ts';
import { expect, test } from 'vitest';
import { cutOf, type RunSpan } from './log-cut.ts';

const span = (runId: string, first: number, last: number, removable = true): RunSpan => ({
  runId,
  first,
  last,
  removable,
});

test('a log is cut behind the last run that may go', () => {
  expect(cutOf([span('a', 1, 5), span('b', 6, 9), span('c', 10, 12, false)], 100)).toEqual({
    retainedFrom: 10,
    runIds: ['a', 'b'],
  });
  expect(cutOf([span('a', 1, 5)], 100)).toEqual({ retainedFrom: 6, runIds: ['a'] });
});

test('nothing goes while the first run stays, or while it lies on both sides of every cut', () => {
  expect(cutOf([], 100)).toBeNull();
  expect(cutOf([span('a', 1, 5, false), span('b', 6, 9)], 100)).toBeNull();
  expect(cutOf([span('a', 1, 8), span('b', 4, 20, false)], 100)).toBeNull();
});

test('a cut takes a bounded part, and at least one run', () => {
  const spans = [span('a', 1, 50), span('b', 51, 90), span('c', 91, 140)];
  expect(cutOf(spans, 100)?.runIds).toEqual(['a', 'b']);
  expect(cutOf(spans, 10)?.runIds).toEqual(['a']);
});

test('whatever the runs, a cut splits none and takes only what may go', () => {
  const runs = fc.array(fc.record({ at: fc.nat(40), length: fc.nat(15), removable: fc.boolean() }), { maxLength: 12 });
  fc.assert(
    fc.property(runs, fc.integer({ min: 1, max: 60 }), (drawn, most) => {
      const spans = drawn.map(({ at, length, removable }, i) => span(String(i), at + 1, at + 1 + length, removable));
      const cut = cutOf(spans, most);
      if (cut === null) return;
      for (const { runId, first, last, removable } of spans) {
        const isGone = cut.runIds.includes(runId);
        expect(isGone ? removable && last < cut.retainedFrom : first >= cut.retainedFrom).toBe(true);
      }
    }),
  );
});

import { expect, test } from 'vitest';
import { plainJson } from './plain-json.ts';

test('what JSON cannot say is named or left out', () => {
  const round: Record<string, unknown> = { n: 1n, bytes: new Uint8Array(3), f: () => 1, nothing: undefined };
  round['self'] = round;
  expect(plainJson(round)).toEqual({ n: '1', bytes: { bytes: 3 }, self: '[circular]' });
  expect(plainJson(undefined)).toBeNull();
});

test('what stands in two places is no circle', () => {
  const one = { a: 1 };
  expect(plainJson([one, { one }, one])).toEqual([one, { one }, one]);
});

test('an error is its name and a sentence without keys, whatever else it holds', () => {
  const error = Object.assign(new TypeError('the key sk-123456789 is wrong'), {
    headers: { authorization: 'x' },
    statusCode: 401,
  });
  expect(plainJson({ error })).toEqual({
    error: { name: 'TypeError', message: 'the key [secret] is wrong', statusCode: 401 },
  });
});

test('what throws when it is read is unreadable', () => {
  const thrower = {
    toJSON() {
      throw new Error('no');
    },
  };
  expect(plainJson({ thrower })).toBe('[unreadable]');
});

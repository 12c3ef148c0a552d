import { expect, it } from 'vitest';
import { asciiJson, spacedJson } from './custom-json.ts';

/** What `json.dumps` of Python 3 writes for the same value, by default and with `ensure_ascii=False`. */
const PYTHON: readonly (readonly [unknown, string, string?])[] = [
  [{}, '{}'],
  [[], '[]'],
  [{ a: [1, { b: null }, true, false], c: '' }, '{"a": [1, {"b": null}, true, false], "c": ""}'],
  ['é 東 🧑 \u007f', String.raw`"\u00e9 \u6771 \ud83e\uddd1 \u007f"`, '"é 東 🧑 \u007f"'],
  ['\ud83d', String.raw`"\ud83d"`],
  ['\b\f\n\r\t\u0001"\\/', String.raw`"\b\f\n\r\t\u0001\"\\/"`],
  ['\u2028\u0085', String.raw`"\u2028\u0085"`, '"\u2028\u0085"'],
  [
    [0.1, 1.5, -2, 1e21, 123456789012345680000, 0.0001, 0.00001, -1.5e-7, 1e-10, 5e-324],
    '[0.1, 1.5, -2, 1e+21, 123456789012345680000, 0.0001, 1e-05, -1.5e-07, 1e-10, 5e-324]',
  ],
];

it.each(PYTHON)('writes %j as Python does', (value, ascii, raw = ascii) => {
  expect(asciiJson(value)).toBe(ascii);
  expect(spacedJson(value)).toBe(raw);
});

it('leaves out members that are undefined', () => {
  expect(asciiJson({ a: undefined, b: 1 })).toBe('{"b": 1}');
});

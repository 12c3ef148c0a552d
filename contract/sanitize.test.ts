import vm from 'node:vm';
import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { cleanText, cutText, isCleanText, jsonProblem, safeMessage } from './sanitize.ts';

const bounds = { depth: 4, items: 10, keyChars: 8, stringChars: 16 };
const anyText = fc.string({ unit: 'binary' });

describe('clean text', () => {
  it('may hold tab, line feed, carriage return and every other character that is no control', () => {
    expect(isCleanText('a\tb\r\nc \u2028 é 你好 👨‍👩‍👧 \ud83c\udf0d')).toBe(true);
    for (const code of [0, 1, 8, 0x0b, 0x0c, 0x0e, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f]) {
      expect(isCleanText(`a${String.fromCharCode(code)}b`)).toBe(false);
    }
    for (const half of ['\ud83c', '\udf0d', '\udf0d\ud83c']) expect(isCleanText(half)).toBe(false);
  });

  it('is made of any text by showing what may not pass, and is left alone when it is clean', () => {
    expect(cleanText('\u001b[31mred\u0000\u007f\u0085\ud83c')).toBe('␛[31mred␀␡\ufffd\ufffd');
    fc.assert(
      fc.property(anyText, (text) => {
        const clean = cleanText(text);
        expect(isCleanText(clean)).toBe(true);
        expect(clean).toHaveLength(text.length);
        if (isCleanText(text)) expect(clean).toBe(text);
      }),
    );
  });

  it('is never cut inside a surrogate pair', () => {
    expect(cutText('ab🌍', 3)).toBe('ab');
    expect(cutText('ab🌍', 4)).toBe('ab🌍');
  });
});

describe('a safe message', () => {
  it('is one line, bounded, without controls and without marks that turn the text around', () => {
    expect(safeMessage('  a\r\n\tb\u2028c  ', 100)).toBe('a b c');
    expect(safeMessage('user\u202etxt.exe\u2066', 100)).toBe('usertxt.exe');
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const message = safeMessage(text, limit);
        expect(message.length).toBeLessThanOrEqual(limit);
        expect(message).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        expect(message.isWellFormed()).toBe(true);
      }),
    );
  });

  it('says that it was cut, and costs no more for an error of megabytes', () => {
    expect(safeMessage('abcdef', 6)).toBe('abcdef');
    expect(safeMessage('abcdefg', 6)).toBe('abcde…');
    expect(safeMessage(' '.repeat(5_000_000) + 'x', 10)).toBe('…');
  });
});

describe('what is not safe JSON', () => {
  it.each([
    ['NaN', Number.NaN],
    ['an infinity', { a: [Number.NEGATIVE_INFINITY] }],
    ['undefined', { a: undefined }],
    ['a function', { a: () => 1 }],
    ['a symbol', [Symbol('x')]],
    ['a bigint', 1n],
    ['a date', { at: new Date(0) }],
    ['a map', new Map()],
    ['an error', new Error('secret')],
    [
      'an object of a class',
      new (class Thing {
        x = 1;
      })(),
    ],
    ['a member named by a symbol', { [Symbol('x')]: 1 }],
    ['a sparse array', [1, , 2]], // oxlint-disable-line no-sparse-arrays
    ['an array with a member', Object.assign([1], { more: 2 })],
    ['a lone surrogate', { a: 'x\ud800' }],
    ['a control character', ['\u0007']],
    ['a control character in a name', { 'a\u0000': 1 }],
    ['__proto__', JSON.parse('{"a":{"__proto__":{"admin":true}}}') as unknown],
    ['constructor', { constructor: { prototype: {} } }],
    [
      'a getter that throws',
      Object.defineProperty({}, 'a', {
        enumerable: true,
        get: () => {
          throw new Error('x');
        },
      }),
    ],
  ])('is found: %s', (_, value) => {
    expect(jsonProblem(value, bounds)).toMatchObject({ isLimit: false });
  });

  it('is found at each bound only one over it', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)]);
    const cases: readonly [unknown, unknown][] = [
      [nested(4), nested(5)],
      [Array.from({ length: 10 }, () => 0), Array.from({ length: 11 }, () => 0)],
      [
        { a: [1, 2, 3, 4], b: [1, 2, 3, 4] },
        { a: [1, 2, 3, 4], b: [1, 2, 3, 4, 5] },
      ],
      [{ ['k'.repeat(8)]: 1 }, { ['k'.repeat(9)]: 1 }],
      ['s'.repeat(16), 's'.repeat(17)],
    ];
    for (const [at, over] of cases) {
      expect(jsonProblem(at, bounds)).toBeNull();
      expect(jsonProblem(over, bounds)).toMatchObject({ isLimit: true });
    }
  });

  it('is never a plain value, whichever realm made it, and a cycle ends at the depth', () => {
    expect(jsonProblem(vm.runInNewContext('({a: [1, {b: null}]})'), bounds)).toBeNull();
    expect(jsonProblem(Object.assign(Object.create(null) as object, { a: 1 }), bounds)).toBeNull();
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(jsonProblem(cycle, bounds)).toMatchObject({ isLimit: true });
    const wide = { depth: 32, items: 100_000, keyChars: 100_000, stringChars: 100_000 };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const problem = jsonProblem(value, wide);
        if (problem !== null) expect(problem.reason).toMatch(/control character|prototype/);
      }),
    );
  });
});

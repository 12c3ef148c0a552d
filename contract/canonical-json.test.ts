import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

describe('canonical JSON (RFC 8785)', () => {
  it('sorts keys by UTF-16 code units and prints numbers as ECMAScript does', () => {
    expect(canonicalJson({ b: 1e21, a: [true, null, 4.5, 0.000001], '\u20ac': 'euro', '\r': 1 })).toBe(
      '{"\\r":1,"a":[true,null,4.5,0.000001],"b":1e+21,"\u20ac":"euro"}',
    );
  });

  it('gives the same text for the same value whatever the order of its keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
      }),
    );
  });

  it('leaves undefined members out and refuses what JSON cannot say', () => {
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
    expect(() => canonicalJson({ n: Number.NaN })).toThrow('NaN');
    expect(() => canonicalJson(1n)).toThrow('bigint');
  });
});

import { describe, expect, it } from 'vitest';
import { argumentCheck, isSchema } from './argument-check.ts';

const faults = (schema: Record<string, unknown>, args: unknown) =>
  argumentCheck(schema)?.(args).map(({ path, message }) => `${path.join('.')} ${message}`);

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string', minLength: 2 },
    at: { type: 'object', properties: { 'a/b~': { type: 'integer' } } },
  },
  required: ['text'],
  additionalProperties: false,
};

describe('arguments', () => {
  it.each([
    [{ text: 'ab' }, []],
    [{}, ['text is required']],
    [{ text: 'ab', more: 1 }, ['more is not allowed']],
    [{ text: 1 }, ['text must be string']],
    [{ text: 'ab', at: { 'a/b~': 1.5 } }, ['at.a/b~ must be integer']],
    [[], [' must be object']],
  ])('%j by the server’s schema', (args, expected) => {
    expect(faults(schema, args)).toEqual(expected);
  });

  it('are checked by the dialect that the schema names, and by the newest where nobody knows it', () => {
    const tuple = { type: 'object', properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }] } } };
    const old = { type: 'object', properties: { pair: { type: 'array', items: [{ type: 'string' }] } } };
    expect(faults(tuple, { pair: [1] })).toEqual(['pair.0 must be string']);
    expect(faults({ ...old, $schema: 'http://json-schema.org/draft-07/schema#' }, { pair: [1] })).toEqual([
      'pair.0 must be string',
    ]);
    expect(faults({ ...tuple, $schema: 'https://example.com/own' }, { pair: [1] })).toEqual(['pair.0 must be string']);
  });

  it.each([
    { type: 'object', properties: { a: { type: 'nonsense' } } },
    { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } },
    { type: 'object', properties: { a: { $ref: 'https://example.com/other.json' } } },
    { type: 7 },
  ])('cannot be checked by %j', (unusable) => {
    expect(argumentCheck(unusable)).toBeNull();
  });

  it('of two schemas with one id are checked by their own', () => {
    const of = (type: string) => ({ $id: 'https://example.com/args', type: 'object', properties: { a: { type } } });
    expect(faults(of('string'), { a: 1 })).toEqual(['a must be string']);
    expect(faults(of('number'), { a: 1 })).toEqual([]);
  });

  it('are checked by the patterns that JavaScript knows, each by its own', () => {
    const patterns = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^a+$' }, b: { type: 'string', pattern: '^b+$' } },
    };
    expect(faults(patterns, { a: 'aa', b: 'bb' })).toEqual([]);
    expect(faults(patterns, { a: 'aa', b: 'aa' })).toEqual([expect.stringMatching(/^b must match pattern/)]);
    const python = { type: 'object', properties: { a: { type: 'string', pattern: '(?P<name>a)' } } };
    expect(faults(python, { a: 'anything' })).toEqual([]);
  });

  it('do not hold up the worker by a pattern that runs astray', () => {
    const astray = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const begun = performance.now();
    expect(faults(astray, { a: `${'a'.repeat(40)}!` })).toEqual([expect.stringMatching(/^a must match pattern/)]);
    // without a limit this takes hours
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});

describe('a schema', () => {
  it.each([
    [schema, true],
    [{ type: 'nonsense' }, false],
    [{ type: 'object', required: 'text' }, false],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', definitions: {} }, true],
  ])('%j is one: %j', (given, expected) => {
    expect(isSchema(given)).toBe(expected);
  });
});

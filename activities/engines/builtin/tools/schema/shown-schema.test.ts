import { describe, expect, it } from 'vitest';
import { shownSchema } from './shown-schema.ts';

describe('parameters as a model is shown them', () => {
  it('are the server’s, without what model APIs refuse at the top', () => {
    const server = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['a'],
      anyOf: [{ required: ['a'] }],
      $defs: { b: { type: 'string' } },
    };
    expect(shownSchema(server)).toEqual({
      type: 'object',
      properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['a'],
      $defs: { b: { type: 'string' } },
    });
  });

  it('say that they are an object with properties, and what an array holds', () => {
    expect(shownSchema({})).toEqual({ type: 'object', properties: {} });
    const list = { type: 'array' };
    expect(
      shownSchema({ properties: { list, in: { anyOf: [list] }, value: { enum: [list], default: list } } }),
    ).toEqual({
      type: 'object',
      properties: {
        list: { type: 'array', items: {} },
        in: { anyOf: [{ type: 'array', items: {} }] },
        value: { enum: [list], default: list },
      },
    });
  });

  it('of any depth are shown', () => {
    let deep: Record<string, unknown> = { type: 'string' };
    for (let depth = 0; depth < 5_000; depth++) deep = { type: 'array', items: deep };
    expect(() => shownSchema({ properties: { deep } })).not.toThrow();
  });
});

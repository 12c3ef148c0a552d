import { describe, expect, it } from 'vitest';
import { CATALOGUE_LIMITS, catalogueOf, readPages } from './catalogue.ts';

const inputSchema = { type: 'object', properties: {} };
const named = (...names: string[]) => names.map((name) => ({ name, inputSchema }));
const all = { tools: { deny: [] } };
const toolNames = (listed: readonly unknown[], settings: Parameters<typeof catalogueOf>[2] = all) =>
  catalogueOf('docs', listed, settings).tools.map(({ toolName }) => toolName);

describe('what of a server’s tools is offered', () => {
  it('is all of it, in its order, with what it says of them', () => {
    const annotations = { readOnlyHint: true, idempotentHint: true, title: 'Search it' };
    const [tool] = catalogueOf('docs', [{ ...named('search')[0], description: 'Finds.', annotations }], all).tools;
    expect(tool).toEqual({
      name: 'mcp__docs__search',
      toolName: 'search',
      title: 'Search it',
      description: 'Finds.',
      inputSchema,
      isReadOnly: true,
      isIdempotent: true,
    });
    expect(toolNames(named('b', 'a'))).toEqual(['b', 'a']);
  });

  it.each([
    [{ allow: ['read_*', 'list'], deny: [] }, ['read_a', 'read_b', 'list']],
    [{ allow: ['*'], deny: ['*_b'] }, ['read_a', 'list', 'write']],
    [{ deny: ['write'] }, ['read_a', 'read_b', 'list']],
    [{ allow: [], deny: [] }, []],
    [{ allow: ['read.a', '.*', 'rea'], deny: [] }, []],
  ])('by %j is what the settings name', (tools, offered) => {
    expect(toolNames(named('read_a', 'read_b', 'list', 'write'), { tools })).toEqual(offered);
  });

  it('leaves out what is no tool, one by one', () => {
    const listed = [null, 7, {}, { name: 'x' }, { name: '', inputSchema }, { name: 'y', inputSchema: 'z' }];
    const found = catalogueOf('docs', [...listed, { ...named('good')[0], title: 7, annotations: 'no' }], all);
    expect(found).toMatchObject({ tools: [{ name: 'mcp__docs__good', title: 'good', isReadOnly: false }], leftOut: 6 });
  });

  it('gives two tools whose names become the same names of their own, whatever their order', () => {
    const names = (listed: readonly unknown[]) =>
      new Map(catalogueOf('docs', listed, all).tools.map(({ toolName, name }) => [toolName, name]));
    const one = names(named('a b', 'a.b', 'a_b', 'a_b'));
    const other = names(named('a_b', 'a.b', 'a b'));
    expect(one).toEqual(other);
    expect(new Set(one.values()).size).toBe(3);
    expect(one.get('a_b')).toBe('mcp__docs__a_b');
  });

  it('is bounded in number, in its schemas and in its descriptions', () => {
    const many = catalogueOf('docs', named(...Array.from({ length: 500 }, (_, at) => `t${String(at)}`)), all);
    expect([many.tools.length, many.leftOut]).toEqual([CATALOGUE_LIMITS.tools, 400]);
    const heavy = { name: 'heavy', inputSchema: { ...inputSchema, description: 'x'.repeat(40_000) } };
    expect(toolNames([heavy, ...named('light')])).toEqual(['light']);
    const [told] = catalogueOf('docs', [{ name: 'told', description: '🌍'.repeat(5_000), inputSchema }], all).tools;
    expect(told?.description.length).toBeLessThanOrEqual(CATALOGUE_LIMITS.descriptionChars);
    expect(told?.description.isWellFormed()).toBe(true);
    const wide = { ...inputSchema, description: 'x'.repeat(30_000) };
    const all30k = Array.from({ length: 50 }, (_, at) => ({ name: `w${String(at)}`, inputSchema: wide }));
    expect(toolNames(all30k)).toHaveLength(17);
  });
});

describe('the pages of a list', () => {
  it('are read to the last one', async () => {
    const pages = new Map([
      [undefined, { tools: ['a'], nextCursor: '1' }],
      ['1', { tools: ['b', 'c'] }],
    ]);
    expect(await readPages(async (cursor) => pages.get(cursor) ?? { tools: [] })).toEqual(['a', 'b', 'c']);
  });

  it('that never end are read up to a limit', async () => {
    let asked = 0;
    const list = async () => {
      asked++;
      return { tools: ['a'], nextCursor: 'again' };
    };
    expect(await readPages(list)).toHaveLength(CATALOGUE_LIMITS.pages);
    expect(asked).toBe(CATALOGUE_LIMITS.pages);
    const wide = async () => ({ tools: Array.from({ length: 10_000 }, () => 'a'), nextCursor: 'again' });
    expect(await readPages(wide)).toHaveLength(CATALOGUE_LIMITS.listed);
  });
});

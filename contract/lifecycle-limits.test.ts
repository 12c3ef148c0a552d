import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as limits from './lifecycle-limits.ts';

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'lifecycle.md'), 'utf8');

describe('docs/lifecycle.md', () => {
  it('states every limit with its value', () => {
    const constants = Object.entries(limits).filter(([, value]) => typeof value === 'number');
    const stated = constants.map(([name, value]) => `| \`${name}\` | ${value.toLocaleString('en-US')} |`);
    expect(stated.filter((row) => !page.includes(row))).toEqual([]);
  });

  it('names every key that provider metadata may have', () => {
    expect(limits.METADATA_KEYS.filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
  });

  it('has the 15 rules', () => {
    for (let rule = 1; rule <= 15; rule++) expect(page).toMatch(new RegExp(`^\\| ${String(rule)} \\| `, 'm'));
  });
});

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CODEX_TYPES, generatedTypes } from './codex-types.ts';

describe('the types of Codex’s protocol', () => {
  it('are what the installed version generates; `node tests/engines/real/codex-types.ts` writes them', async () => {
    expect(await readFile(CODEX_TYPES, 'utf8')).toBe(await generatedTypes());
  });
});

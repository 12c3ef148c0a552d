import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ERROR_CODES } from '../contract/errors.ts';
import { STATUS } from './problem.ts';

it('documents every code with the status that the gateway sends', async () => {
  const pages = await readFile(new URL('../docs/errors.md', import.meta.url), 'utf8');
  const documented = Object.fromEntries(
    [...pages.matchAll(/^## (\w+)\n\nHTTP (\d{3})\./gm)].map(([, code, status]) => [code, Number(status)]),
  );
  expect(documented).toEqual(Object.fromEntries(ERROR_CODES.map((code) => [code, STATUS[code]])));
});

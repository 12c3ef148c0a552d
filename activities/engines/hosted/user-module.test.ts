import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cleared, folder } from '../driver-testkit.ts';
import { loadUserModule } from './user-module.ts';

afterEach(cleared);

const CONTEXT = { model: 'm', workspace: '/w', threadId: 't' };

async function load(text: string) {
  const path = join(await folder(), 'agent.mjs');
  await writeFile(path, text);
  return await loadUserModule(path, CONTEXT);
}

test('the default export is the agent, or makes it', async () => {
  expect(await load('export default { name: "it" }')).toMatchObject({ agent: { name: 'it' }, choosesModel: false });
  const made = await load('export default async (context) => ({ context })');
  expect(made).toMatchObject({ agent: { context: CONTEXT }, choosesModel: true });
});

test.each([
  ['imports what is not there', 'import "./nowhere.mjs"', 'its module cannot be loaded'],
  ['exports nothing', 'export const agent = 1', 'its module has no default export'],
  ['throws', 'export default () => { throw new Error("no key") }', 'the function that its module exports has thrown'],
])('a module that %s is refused', async (_, text, what) => {
  await expect(load(text)).rejects.toMatchObject({ what });
});

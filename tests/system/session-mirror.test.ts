import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { Rest } from '../fixtures/rest.ts';

let stack: Stack;
let rest: Rest;
let folder: string;

beforeAll(async () => {
  const home = await mkdtemp(join(inject('scratch'), 'config-'));
  const config = join(home, 'tidemark.config.ts');
  await writeFile(config, `export default { sessions: { backend: 'jsonl', folder: './sessions' } };\n`);
  folder = join(home, 'sessions');
  stack = await startStack({ env: { TIDEMARK_CONFIG: config } });
  rest = new Rest(stack.url);
});
afterAll(async () => await stack?.stop());

async function files(): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name));
}

describe('an installation that keeps sessions as files, too', () => {
  it('has the messages of each settled run in the file of its thread, and none of it when the thread is erased', async () => {
    const run = await rest.settled((await rest.startRun('hello', { model: 'scripted/text' })).run_id);
    const next = await rest.startRun('again', { model: 'scripted/text' }, run.thread_id);
    await rest.settled(next.run_id);
    const ids = await rest.until('both runs are in the file', async () => {
      const [file] = await files();
      const lines = file === undefined ? [] : (await readFile(file, 'utf8')).trimEnd().split('\n');
      return lines.some((line) => line.includes(`${next.run_id}.1`)) ? lines.map(idOf) : null;
    });
    expect(ids).toEqual([run.thread_id, ...[run, next].flatMap(({ run_id: id }) => [`${id}.0`, `${id}.1`])]);
    expect((await rest.send('DELETE', `/v1/threads/${run.thread_id}`)).status).toBe(204);
    await rest.until('the file is removed', async () => ((await files()).length === 0 ? true : null));
  });
});

function idOf(line: string): string {
  return (JSON.parse(line) as { id: string }).id;
}

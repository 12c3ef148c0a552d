import { appendFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { extensionConfig } from '../fixtures/extension-config.ts';
import { Rest } from '../fixtures/rest.ts';

const CALLS = 120;
let stack: Stack;
let rest: Rest;
let ledger: string;
let thread: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(inject('scratch'), 'calls-'));
  ledger = join(folder, 'ledger.txt');
  await appendFile(ledger, '');
  const extension = join(folder, 'ledger.mjs');
  await writeFile(extension, LEDGER.replaceAll('FILE', JSON.stringify(ledger)));
  stack = await startStack({ workers: 2, gateways: 2, env: { TIDEMARK_CONFIG: await extensionConfig([extension]) } });
  rest = new Rest(stack.url);
  await rest.until('both workers', async () => {
    const { rows } = await stack.pool.query<{ workers: number }>('select count(*)::int as workers from worker');
    return rows[0]?.workers === 2 ? true : null;
  });
  thread = (await rest.send<{ thread_id: string }>('POST', '/v1/threads', {})).body.thread_id;
});
afterAll(async () => await stack?.stop());

const lines = async (): Promise<string[]> => (await readFile(ledger, 'utf8')).split('\n').filter((line) => line !== '');

describe('commands of extensions', () => {
  it('that come in a flood over two gateways are each carried out once, and each answered', async () => {
    const clients = stack.urls.map((url) => new Rest(url));
    const answers = await Promise.all(
      Array.from({ length: CALLS }, async (_, n) => {
        const client = clients[n % clients.length] ?? rest;
        return await client.send<{ result: unknown }>('POST', `/v1/threads/${thread}/commands/note`, {
          args: `n${String(n)}`,
        });
      }),
    );
    expect(answers.map(({ status, body }) => [status, body.result])).toEqual(
      Array.from({ length: CALLS }, (_, n) => [200, `n${String(n)}`]),
    );
    expect((await lines()).toSorted()).toEqual(Array.from({ length: CALLS }, (_, n) => `n${String(n)}`).toSorted());
  });

  it('whose worker is killed are answered as lost, and not carried out again', async () => {
    const asked = rest.send<{ code: string }>('POST', `/v1/threads/${thread}/commands/hang`, {});
    const pid = await rest.until('the command at work', async () => {
      const line = (await lines()).find((each) => each.startsWith('hangs in '));
      return line === undefined ? null : Number(line.slice('hangs in '.length));
    });
    const worker = stack.workers.find((each) => each.pid === pid);
    await worker?.kill('SIGKILL');
    const { status, body } = await asked;
    expect([status, body.code]).toEqual([500, 'worker_lost']);
    expect((await lines()).filter((line) => line.startsWith('hangs'))).toHaveLength(1);
    const note = await rest.send('POST', `/v1/threads/${thread}/commands/note`, { args: 'after it' });
    expect(note.status).toBe(200);
  });
});

const LEDGER = `
import { appendFile } from 'node:fs/promises';
export default (api) => {
  api.register('command', {
    name: 'note',
    handler: async (args) => {
      await appendFile(FILE, args + '\\n');
      return args;
    },
  });
  api.register('command', {
    name: 'hang',
    handler: async () => {
      await appendFile(FILE, 'hangs in ' + process.pid + '\\n');
      await new Promise(() => {});
    },
  });
};
`;

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { Rest } from '../fixtures/rest.ts';

interface Thread {
  readonly thread_id: string;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}
interface Page {
  readonly data: readonly Thread[];
  readonly next_cursor: string | null;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
let stack: Stack;
let ada: Rest;

beforeAll(async () => {
  stack = await startStack({ workers: 0, env: { TIDEMARK_API_KEYS: 'key-of-ada' } });
  ada = new Rest(stack.url, bearer('key-of-ada'));
});
afterAll(async () => await stack?.stop());

const create = async (body: object): Promise<Thread> => (await ada.send<Thread>('POST', '/v1/threads', body)).body;
const list = async (query: string): Promise<Page> => (await ada.send<Page>('GET', `/v1/threads?${query}`)).body;
const idsOf = (threads: readonly Thread[]) => threads.map(({ thread_id: id }) => id);

describe('threads', () => {
  it('are created without a run, and a run goes on in them', async () => {
    const { status, body, headers } = await ada.send<Thread>('POST', '/v1/threads', {
      title: 'Plan',
      metadata: { a: 1 },
    });
    expect([status, headers.get('location')]).toEqual([201, `/v1/threads/${body.thread_id}`]);
    expect(body).toMatchObject({ title: 'Plan', metadata: { a: 1 }, head: 0, active_run_id: null });
    expect((await ada.startRun('hello', {}, body.thread_id)).thread_id).toBe(body.thread_id);
  });

  it('are listed newest first, page by page, each once', async () => {
    const made = [];
    for (let i = 0; i < 5; i++) made.push(await create({ title: `page ${String(i)}` }));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list(`limit=2&search=page${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...idsOf(page.data));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(idsOf(made).toReversed());
  });

  it('are found by a part of their title, whose signs mean themselves', async () => {
    const found = await create({ title: 'Discount of 100% (Ünder)' });
    for (const search of ['100%', 'ÜNDER', '(']) {
      expect(idsOf((await list(`search=${encodeURIComponent(search)}`)).data)).toEqual([found.thread_id]);
    }
    expect((await list('search=100_')).data).toEqual([]);
  });

  it('are renamed; what is left out stays', async () => {
    const { thread_id: id } = await create({ title: 'before', metadata: { kept: true } });
    const renamed = await ada.send<Thread>('PATCH', `/v1/threads/${id}`, { title: 'after' });
    expect([renamed.status, renamed.body]).toMatchObject([200, { title: 'after', metadata: { kept: true } }]);
    const untitled = await ada.send<Thread>('PATCH', `/v1/threads/${id}`, { title: null, metadata: {} });
    expect(untitled.body).toMatchObject({ title: null, metadata: {} });
  });

  it.each([
    ['POST', '/v1/threads', { title: '' }, 400],
    ['POST', '/v1/threads', { name: 'x' }, 400],
    ['GET', '/v1/threads?cursor=x', undefined, 400],
    ['PATCH', '/v1/threads/thr_none', { title: 'x' }, 404],
  ])('refuse %s %s %j', async (method, path, body, status) => {
    expect((await ada.send(method, path, body)).status).toBe(status);
  });
});

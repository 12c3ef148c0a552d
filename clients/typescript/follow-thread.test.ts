import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { TidemarkApiError } from './api-error.ts';
import { TidemarkClient } from './client.ts';
import type { FollowOptions } from './follow-thread.ts';
import { breakOff, json, problem, serve, stream, type HostileServer } from './hostile-server-testkit.ts';
import type { ThreadItem } from './thread-item.ts';
import { frame, ThreadLog } from './thread-log-testkit.ts';

const TEXTS = ['ñ ', '你好', ' 🌍 ', 'end'];
const log = new ThreadLog('thr_1', TEXTS);

/** Everything up to the completion record, and `caught-up` where it came before. */
async function follow({ url }: HostileServer, options: FollowOptions = {}, threadId = 'thr_1'): Promise<ThreadItem[]> {
  const items: ThreadItem[] = [];
  for await (const item of new TidemarkClient({ baseUrl: url }).threads.follow(threadId, options)) {
    items.push(item);
    if (item.type === 'complete' || item.type === 'gone') break;
  }
  return items;
}

const seqsOf = (items: readonly ThreadItem[]) =>
  items.flatMap((item) => ('deliverySeq' in item ? [item.deliverySeq] : []));
const textOf = (items: readonly ThreadItem[]) =>
  items.map((item) => (item.type === 'event' && item.event.kind === 'message.delta' ? item.event.text : '')).join('');

function expectWhole(items: readonly ThreadItem[]): void {
  expect(seqsOf(items)).toEqual([1, 2, 3, 4, 5]);
  expect(textOf(items)).toBe(TEXTS.join(''));
}

describe('a thread that is followed', () => {
  it('is whole when its bytes come one by one', async () => {
    const server = await serve(async (res) => {
      stream(res);
      for (const byte of Buffer.from(log.after(0))) {
        res.write(Uint8Array.of(byte));
        await nextTurn();
      }
    });
    expectWhole(await follow(server));
    expect(server.asked).toHaveLength(1);
  });

  it('is whole wherever its connection breaks, at each byte once', { timeout: 120_000 }, async () => {
    const bytes = Buffer.from(`: open\nretry: 1\n\n${log.frames().join('')}`);
    const broken = new Set<number>();
    const server = await serve(async (res, { path, query }) => {
      const at = Number(/\d+/.exec(path.split('thr_')[1] ?? '')?.[0]);
      const thread = new ThreadLog(`thr_${String(at)}`, TEXTS);
      if (broken.has(at)) return thread.serve(res, { query });
      broken.add(at);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const said = Buffer.from(`: open\nretry: 1\n\n${thread.frames().join('')}`);
      await breakOff(res, said.subarray(0, at));
    });
    const places = Array.from(bytes, (_, at) => at);
    const workers = Array.from({ length: 16 }, async () => {
      for (let at = places.shift(); at !== undefined; at = places.shift()) {
        expectWhole(await follow(server, {}, `thr_${String(at)}`));
      }
    });
    await Promise.all(workers);
    expect(broken.size).toBe(bytes.length);
  });

  const second = log.frames()[1] ?? '';
  it.each([
    ['JSON that is none', second.replace('data: {', 'data: {{')],
    ['a delivery of another thread', second.replace('"threadId":"thr_1"', '"threadId":"thr_2"')],
    ['a delivery that leaves one out', log.frames()[2] ?? ''],
    ['a delivery whose id is another', second.replace('id: 2', 'id: 4')],
    ['a delivery without an id', second.replace('id: 2\n', '')],
    ['a delivery without an event id', second.replace('"eventId"', '"other"')],
    ['an id that is no number', second.replace('id: 2', 'id: two')],
    ['a head that is further than what came', log.caughtUp()],
    ['bytes that are no UTF-8', Buffer.from([...Buffer.from('data: '), 0xc3, 0x28, 0x0a, 0x0a])],
  ])('is whole after %s', async (_what, garbage) => {
    const server = await serve(async (res, asked) => {
      if (asked.at > 0) return log.serve(res, asked);
      stream(res);
      res.write(log.frames()[0]);
      res.write(garbage);
    });
    expectWhole(await follow(server));
    expect(server.asked).toHaveLength(2);
  });

  it('is whole after answers that are no streams, and after errors of a server in trouble', async () => {
    const server = await serve((res, asked) => {
      switch (asked.at) {
        case 0:
          return void res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
        case 1:
          return json(res, 503, problem('draining', 503), { 'retry-after': '0' });
        case 2:
          return void res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
        case 3:
          return json(res, 500, problem('internal', 500), { 'retry-after': '0' });
        default:
          return log.serve(res, asked);
      }
    });
    const lost: (string | null)[] = [];
    expectWhole(await follow(server, { onReconnect: ({ error }) => lost.push(error?.code ?? null) }));
    expect(lost).toEqual(['unexpected_answer', 'draining', 'stream_invalid', 'internal']);
  });

  it('is not repeated by a server that repeats itself', async () => {
    const server = await serve((res, { at }) => {
      stream(res);
      const [one = '', two = '', ...rest] = log.frames();
      if (at === 0) res.end(`${one}${two}`);
      else res.write([one, two, two, one, ...rest, ...rest].join(''));
    });
    const items = await follow(server);
    expectWhole(items);
    expect(server.asked).toHaveLength(2);
  });

  it('is taken up again when its connection falls silent, with a heartbeat or a drain before', async () => {
    const server = await serve((res, asked) => {
      if (asked.at > 1) return log.serve(res, asked);
      stream(res);
      res.write('event: heartbeat\ndata: {}\n\n');
      if (asked.at === 0) res.write(log.frames()[0]);
      else res.end('event: drain\ndata: {}\n\n');
    });
    expectWhole(await follow(server, { silenceMs: 200 }));
    expect(server.asked.length).toBeGreaterThan(2);
  });

  it('goes on behind what a filter hides', async () => {
    const server = await serve((res, { at }) => {
      stream(res);
      if (at === 0) res.end('id: 3\n\n');
      else res.write(log.after(3));
    });
    const items = await follow(server, { kinds: ['message.delta'], runId: 'run_1', after: 1 });
    expect(seqsOf(items)).toEqual([4, 5]);
    expect(server.asked.map(({ query }) => query.toString())).toEqual([
      'kinds=message.delta&run_id=run_1&after=1',
      'kinds=message.delta&run_id=run_1&after=3',
    ]);
  });

  it('from its head on begins where the server says that is, and stays there', async () => {
    const server = await serve((res, { at }) => {
      stream(res);
      if (at === 0) res.end('id: 3\n\n');
      else res.write(log.after(3));
    });
    expect(seqsOf(await follow(server, { after: 'head' }))).toEqual([4, 5]);
    expect(server.asked.map(({ query }) => query.toString())).toEqual(['tail=1', 'after=3']);
  });

  it.each([
    ['cursor_expired', 410, { retained_from: 3 }],
    ['cursor_beyond_head', 416, { head: 2 }],
    ['unauthenticated', 401, {}],
    ['thread_not_found', 404, {}],
  ])('is refused with %s, and the facts', async (code, status, facts) => {
    const server = await serve((res) => json(res, status, problem(code, status, facts)));
    const error = await follow(server, { after: 1 }).catch((thrown: unknown) => thrown as TidemarkApiError);
    expect(error).toMatchObject({ name: 'TidemarkApiError', code, status, facts, remedy: 'do so' });
    expect(server.asked).toHaveLength(1);
  });

  it('says that what followed the cursor is lost, and goes on with what is there, where that is wanted', async () => {
    const server = await serve((res, { at, query }) => {
      if (at === 0) return json(res, 410, problem('cursor_expired', 410, { retained_from: 4 }));
      expect(query.get('from')).toBe('oldest');
      stream(res);
      res.write(`id: 3\n\n${log.after(3)}`);
    });
    const items = await follow(server, { after: 1, onCursorLost: 'oldest' });
    expect(items[0]).toEqual({ type: 'cursor-lost', after: 1, code: 'cursor_expired' });
    expect(seqsOf(items)).toEqual([4, 5]);
  });

  it('that is erased ends, whether the stream says so or it is not found any more', async () => {
    const said = await serve((res) => {
      stream(res);
      res.end(`${log.frames()[0] ?? ''}event: gone\ndata: {"threadId":"thr_1"}\n\n`);
    });
    expect((await follow(said)).map(({ type }) => type)).toEqual(['event', 'gone']);
    const missing = await serve((res, { at }) => {
      if (at > 0) return json(res, 404, problem('thread_not_found', 404));
      stream(res);
      res.end(log.frames()[0]);
    });
    expect((await follow(missing)).map(({ type }) => type)).toEqual(['event', 'gone']);
  });

  it('is given up when the server never says what can be', async () => {
    const server = await serve((res) => {
      stream(res);
      res.write('id: 1\nevent: canonical\ndata: {}\n\n');
    });
    await expect(follow(server)).rejects.toMatchObject({ code: 'stream_invalid' });
  });

  it('ends without an error when its signal aborts, live or between two connections, and its connection is closed', async () => {
    const server = await serve((res, { path }) => {
      if (path.includes('thr_2')) return json(res, 503, problem('draining', 503), { 'retry-after': '600' });
      stream(res);
      res.write(log.frames()[0]);
    });
    for (const threadId of ['thr_1', 'thr_2']) {
      const abort = new AbortController();
      const items = new TidemarkClient({ baseUrl: server.url }).threads.follow(threadId, {
        signal: abort.signal,
        onReconnect: () => abort.abort(),
      });
      const seen: string[] = [];
      for await (const { type } of items) {
        seen.push(type);
        abort.abort();
      }
      expect(seen).toEqual(threadId === 'thr_1' ? ['event'] : []);
    }
    await expect.poll(() => server.open()).toBe(0);
  });

  it('closes its connection when it is left', async () => {
    const server = await serve((res, asked) => log.serve(res, asked));
    await follow(server);
    await expect.poll(() => server.open()).toBe(0);
  });

  it('passes on kinds and fields that this client does not know', async () => {
    const event = { ...log.event(0, 'x'), kind: 'mood.changed', mood: 'calm' };
    const server = await serve((res) => {
      stream(res);
      res.end(`${frame(1, 'canonical', { threadId: 'thr_1', event })}event: gone\ndata: {}\n\n`);
    });
    expect((await follow(server))[0]).toMatchObject({ type: 'event', event: { kind: 'mood.changed', mood: 'calm' } });
  });
});

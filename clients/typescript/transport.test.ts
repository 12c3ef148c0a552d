import { describe, expect, it } from 'vitest';
import { TidemarkClient } from './client.ts';
import { breakOff, json, problem, serve, type Asked } from './hostile-server-testkit.ts';

const RUN = {
  run_id: 'run_1',
  thread_id: 'thr_1',
  parent_run_id: null,
  engine: 'builtin',
  model: 'scripted/text',
  status: 'queued',
  stop_reason: null,
  error: null,
  cancelling: false,
  canonical_state: 'open',
  pending_interrupts: [],
  input: 'héllo 🌍',
  metadata: {},
  temporal_ui_url: null,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: null,
  settled_at: null,
};
const SOON = { 'retry-after': '0' };
const keysOf = (asked: readonly Asked[]) => new Set(asked.map(({ headers }) => headers['idempotency-key']));

describe('a request', () => {
  it('that starts a run is sent again under the same key until it is answered', async () => {
    const server = await serve(async (res, { at }) => {
      switch (at) {
        case 0:
          return await breakOff(res, '');
        case 1:
          return json(res, 503, problem('unavailable', 503), SOON);
        case 2:
          return void res.writeHead(502, { ...SOON, 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
        case 3:
          return json(res, 500, problem('internal', 500), SOON);
        default:
          return json(res, 201, RUN);
      }
    });
    const run = await new TidemarkClient({ baseUrl: `${server.url}/`, apiKey: 'k' }).runs.create({ input: 'hello' });
    expect(run).toMatchObject({ run_id: 'run_1' });
    expect(server.asked).toHaveLength(5);
    expect(keysOf(server.asked).size).toBe(1);
    expect(server.asked[4]).toMatchObject({ method: 'POST', path: '/v1/runs', body: '{"input":"hello"}' });
    expect(server.asked[4]?.headers).toMatchObject({ authorization: 'Bearer k', 'content-type': 'application/json' });
  });

  it('has a key of its own each time, or the caller’s', async () => {
    const server = await serve((res) => json(res, 201, RUN));
    const { runs } = new TidemarkClient({ baseUrl: server.url });
    await runs.create({ input: 'a' });
    await runs.create({ input: 'a' });
    await runs.create({ input: 'a' }, { idempotencyKey: 'mine', threadId: 'thr/1' });
    expect(keysOf(server.asked).size).toBe(3);
    expect(server.asked[2]).toMatchObject({ path: '/v1/threads/thr%2F1/runs' });
    expect(server.asked[2]?.headers['idempotency-key']).toBe('mine');
  });

  it('whose answer is cut is sent again, wherever it was cut', { timeout: 120_000 }, async () => {
    const bytes = Buffer.from(JSON.stringify(RUN));
    const cut = new Set<string>();
    const server = await serve(async (res, { path }) => {
      if (cut.has(path)) return json(res, 200, RUN);
      cut.add(path);
      res.writeHead(200, { 'content-type': 'application/json' });
      await breakOff(res, bytes.subarray(0, Number(path.split('_')[1])));
    });
    const { runs } = new TidemarkClient({ baseUrl: server.url });
    const got = await Promise.all(Array.from(bytes, (_, at) => runs.get(`run_${String(at)}`)));
    expect(new Set(got.map(({ input }) => input))).toEqual(new Set(['héllo 🌍']));
    expect(server.asked).toHaveLength(2 * bytes.length);
  });

  it('whose answer ends early without a broken connection is sent again', async () => {
    const server = await serve((res, { at }) => {
      const text = JSON.stringify(RUN);
      res.writeHead(200, { 'content-type': 'application/json' }).end(at === 0 ? text.slice(0, 50) : text);
    });
    expect(await new TidemarkClient({ baseUrl: server.url }).runs.get('run_1')).toMatchObject({ run_id: 'run_1' });
  });

  it('that is refused gives the problem’s code, remedy, status and facts, at once', async () => {
    const server = await serve((res) => json(res, 409, problem('thread_busy', 409, { active_run_id: 'run_0' })));
    const refused = new TidemarkClient({ baseUrl: server.url }).runs.create({ input: 'x' });
    await expect(refused).rejects.toMatchObject({
      name: 'TidemarkApiError',
      code: 'thread_busy',
      message: 'it is thread_busy',
      remedy: 'do so',
      status: 409,
      facts: { active_run_id: 'run_0' },
    });
    expect(server.asked).toHaveLength(1);
  });

  it('to something that is no gateway says so', async () => {
    const server = await serve((res) => void res.writeHead(404).end('nginx'));
    const { runs } = new TidemarkClient({ baseUrl: server.url });
    await expect(runs.get('run_1')).rejects.toMatchObject({ code: 'unexpected_answer', status: 404 });
    const page = await serve((res) => json(res, 200, { hello: 'world' }));
    await expect(new TidemarkClient({ baseUrl: page.url }).runs.get('run_1')).rejects.toMatchObject({
      code: 'unexpected_answer',
      message: expect.stringContaining('run_id'),
    });
    expect(page.asked).toHaveLength(1);
  });

  it('to nobody says where it was sent', async () => {
    const { engines } = { engines: new TidemarkClient({ baseUrl: 'http://127.0.0.1:1' }) };
    await expect(engines.engines()).rejects.toMatchObject({
      code: 'no_answer',
      status: null,
      message: expect.stringContaining('http://127.0.0.1:1'),
    });
  });

  it('that could do something twice is sent once', async () => {
    const server = await serve((res) => json(res, 503, problem('unavailable', 503), SOON));
    const { threads } = new TidemarkClient({ baseUrl: server.url });
    await expect(threads.command('thr_1', 'deploy', 'now')).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]).toMatchObject({ path: '/v1/threads/thr_1/commands/deploy', body: '{"args":"now"}' });
  });

  it('that is given up throws its signal’s reason, also between two tries', async () => {
    const abort = new AbortController();
    const server = await serve((res) => {
      json(res, 503, problem('unavailable', 503), { 'retry-after': '600' });
      res.on('close', () => abort.abort(new Error('enough')));
    });
    const { runs } = new TidemarkClient({ baseUrl: server.url });
    await expect(runs.wait('run_1', { signal: abort.signal })).rejects.toThrow('enough');
  });

  it('for a list asks for page after page', async () => {
    const server = await serve((res, { query }) => {
      const cursor = query.get('cursor');
      json(res, 200, { data: [{ ...RUN, run_id: `run_${cursor ?? '0'}` }], next_cursor: cursor === null ? '9' : null });
    });
    const seen: string[] = [];
    for await (const run of new TidemarkClient({ baseUrl: server.url }).runs.ofThread('thr_1')) seen.push(run.run_id);
    expect(seen).toEqual(['run_0', 'run_9']);
  });
});

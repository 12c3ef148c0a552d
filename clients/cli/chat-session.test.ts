import { describe, expect, it } from 'vitest';
import { TidemarkClient } from '../typescript/client.ts';
import { json, problem, serve } from '../typescript/hostile-server-testkit.ts';
import { ThreadLog } from '../typescript/thread-log-testkit.ts';
import { ChatSession } from './chat-session.ts';

const RUN = {
  run_id: 'run_1',
  thread_id: 'thr_1',
  parent_run_id: null,
  engine: 'builtin',
  model: 'm',
  status: 'queued',
  stop_reason: null,
  error: null,
  cancelling: false,
  canonical_state: 'open',
  pending_interrupts: [],
  input: '',
  metadata: {},
  temporal_ui_url: null,
  created_at: '',
  started_at: null,
  settled_at: null,
};

describe('a chat session', () => {
  it('begins a thread with the first text and goes on in it, with the engine and the model that were chosen', async () => {
    const server = await serve((res) => json(res, 201, RUN));
    const session = new ChatSession(new TidemarkClient({ baseUrl: server.url }), { engine: 'codex', model: 'm' });
    await session.submit('one');
    await session.submit('two');
    expect(server.asked.map(({ path }) => path)).toEqual(['/v1/runs', '/v1/threads/thr_1/runs']);
    expect(JSON.parse(server.asked[0]?.body ?? '')).toEqual({ input: 'one', engine: 'codex', model: 'm' });
    expect(session.isBusy).toBe(true);
    session.reset();
    expect(session).toMatchObject({ threadId: null, isBusy: false });
  });

  it('lets a text wait where the server knows no steering, and says so', async () => {
    const server = await serve((res, { body }) => {
      const { multitask } = JSON.parse(body) as { multitask?: string };
      if (multitask === undefined) return json(res, 201, RUN);
      json(res, 400, problem('invalid_request', 400, { field: 'multitask', in: 'body' }));
    });
    const session = new ChatSession(new TidemarkClient({ baseUrl: server.url }), { threadId: 'thr_1' });
    expect(await session.submit('now', 'steer')).toMatchObject({
      instead: 'steer',
      queue: null,
      run: { run_id: 'run_1' },
    });
  });

  it('knows a text that the running run has taken from a run of its own', async () => {
    const queued = { ...RUN, queued_input: { input_id: 'inp_1', queue: 'steering' } };
    const server = await serve((res) => json(res, 202, queued));
    const session = new ChatSession(new TidemarkClient({ baseUrl: server.url }), { threadId: 'thr_1' });
    expect(await session.submit('now', 'steer')).toMatchObject({ queue: 'steering', instead: null });
    expect(session.isBusy).toBe(false);
  });

  it('gives each delivery once, also when its reader comes again, and follows the next conversation after a reset', async () => {
    const server = await serve((res, asked) => {
      if (asked.method === 'POST') return json(res, 201, { ...RUN, thread_id: `thr_${String(asked.at)}` });
      new ThreadLog(asked.path.split('/')[3] ?? '', ['a', 'b']).serve(res, asked);
    });
    const session = new ChatSession(new TidemarkClient({ baseUrl: server.url }));
    const read = async (until: (seqs: readonly number[]) => boolean): Promise<number[]> => {
      const seqs: number[] = [];
      const enough = new AbortController();
      for await (const item of session.items({ signal: enough.signal })) {
        if (!('deliverySeq' in item)) continue;
        seqs.push(item.deliverySeq);
        if (until(seqs)) enough.abort();
      }
      return seqs;
    };
    const first = read(({ length }) => length === 2);
    await session.submit('one');
    expect(await first).toEqual([1, 2]);
    expect(await read(() => true)).toEqual([3]);
    const next = read(({ length }) => length === 3);
    session.reset();
    await session.submit('two');
    expect(await next).toEqual([1, 2, 3]);
  });
});

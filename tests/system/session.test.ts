import { describe, expect, it } from 'vitest';
import { Rest, type Problem } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();

describe('a thread’s session', () => {
  it('says what was negotiated and which state of it is committed', async () => {
    const { rest } = world;
    const first = await rest.settled((await rest.startRun('ANSWER the first question')).run_id);
    const path = `/v1/threads/${first.thread_id}/session`;
    const { body } = await rest.send<Record<string, unknown>>('GET', path);
    expect(body).toMatchObject({
      thread_id: first.thread_id,
      engine: 'builtin',
      provider: 'builtin',
      native_session_id: first.thread_id,
      runtime: { kind: 'managed', id: 'tidemark' },
      generation: 1,
      revision: 1,
      durability: 'committed',
      run_id: first.run_id,
    });
    expect(body['capabilities']).toMatchObject({ streamingText: true, approvals: true, desktop: false });
    expect((await rest.send<Record<string, unknown>>('GET', `${path}?engine=builtin`)).body).toEqual(body);
  });

  it('that is not there, or is another tenant’s, is a problem that says what to do', async () => {
    const { rest } = world;
    const run = await rest.settled((await rest.startRun('ANSWER again')).run_id);
    const other = await rest.send<Problem>('GET', `/v1/threads/${run.thread_id}/session?engine=opencode`);
    expect(other).toMatchObject({ status: 404, body: { code: 'session_not_found', engines: ['builtin'] } });
    const missing = await rest.send<Problem>('GET', '/v1/threads/thr_00000000-0000-7000-8000-000000000000/session');
    expect(missing).toMatchObject({ status: 404, body: { code: 'thread_not_found' } });
    expect(await new Rest(rest.url).send('GET', '/v1/threads/nonsense/session')).toMatchObject({ status: 404 });
  });
});

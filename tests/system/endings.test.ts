import { describe, expect, it } from 'vitest';
import { textOf } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();

describe('a cancelled run', () => {
  it('stops the model call in mid-stream, keeps what was shown, and ends once as cancelled', async () => {
    const { run_id: runId } = await world.rest.startRun('SLOW talk');
    await world.rest.until('it speaks', async () =>
      textOf(await world.rest.events(await world.rest.run(runId))) === '' ? null : true,
    );
    const aborted = world.model.aborted();
    const cancel = await world.rest.send('POST', `/v1/runs/${runId}/cancel`);
    expect(cancel).toMatchObject({ status: 202, body: { cancelling: true } });
    await world.rest.until(
      'the model call is closed',
      async () => (world.model.aborted() > aborted ? true : null),
      5_000,
    );
    const run = await world.rest.settled(runId);
    expect(run).toMatchObject({ status: 'failed', stop_reason: 'cancelled', error: null });
    const events = await world.rest.events(run);
    expect(textOf(events)).toMatch(/^word0 /);
    expect(events.filter(({ kind }) => kind === 'turn.completed')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ kind: 'turn.completed', stopReason: 'cancelled' });
    expect(await world.rest.send('POST', `/v1/runs/${runId}/cancel`)).toMatchObject({ status: 200 });
  });

  it('that waits for a person closes what it asked', async () => {
    const { run_id: runId } = await world.rest.startRun('WRITE then cancel');
    await world.rest.interruptOf(runId);
    await world.rest.send('POST', `/v1/runs/${runId}/cancel`);
    const run = await world.rest.settled(runId);
    const events = await world.rest.events(run);
    expect(events.find(({ kind }) => kind === 'approval.resolved')).toMatchObject({ decision: 'cancelled' });
    expect(events.find(({ kind }) => kind === 'tool.completed')).toMatchObject({ status: 'error' });
  });

  it('that waits for its turn never starts, and the one behind it does not wait for it', async () => {
    const first = await world.rest.startRun('WRITE first');
    const second = await world.rest.startRun('ANSWER second', {}, first.thread_id);
    const third = await world.rest.startRun('ANSWER third', {}, first.thread_id);
    const [interrupt] = await world.rest.interruptOf(first.run_id);
    await world.rest.send('POST', `/v1/runs/${second.run_id}/cancel`);
    expect(await world.rest.settled(second.run_id)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
    expect(world.model.calls('ANSWER second')).toBe(0);
    await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'reject' });
    expect((await world.rest.settled(third.run_id)).status).toBe('completed');
  });

  it('leaves a thread that can go on: the next run sees a valid history', async () => {
    const first = await world.rest.startRun('WRITE and stop');
    await world.rest.interruptOf(first.run_id);
    await world.rest.send('POST', `/v1/runs/${first.run_id}/cancel`);
    await world.rest.settled(first.run_id);
    const next = await world.rest.startRun('ANSWER after a stop', {}, first.thread_id);
    expect((await world.rest.settled(next.run_id)).status).toBe('completed');
  });
});

describe('a provider’s failure', () => {
  it('of the key fails the run at once, in safe words', async () => {
    const { run_id: runId } = await world.rest.startRun('ERR401 now');
    const run = await world.rest.settled(runId);
    expect(run).toMatchObject({ status: 'failed', stop_reason: 'error', error: { code: 'provider_auth' } });
    expect(JSON.stringify(run)).not.toContain('canary');
    expect(world.model.calls('ERR401 now')).toBe(1);
    const events = await world.rest.events(run);
    expect(events.filter(({ kind }) => kind === 'harness.error')).toMatchObject([
      { fatal: true, code: 'provider_auth' },
    ]);
    expect(events.at(-1)).toMatchObject({ kind: 'turn.completed', stopReason: 'error' });
  });

  it.each([
    ['ERR429 limit', 'provider_rate_limited'],
    ['ERR500 fault', 'provider_unavailable'],
    ['BROKEN stream', 'provider_stream_broken'],
  ])('%s is tried again, five times in all, and then told', async (prompt, code) => {
    const { run_id: runId } = await world.rest.startRun(prompt);
    const run = await world.rest.settled(runId);
    expect(run).toMatchObject({ status: 'failed', stop_reason: 'error', error: { code } });
    expect(world.model.calls(prompt)).toBe(5);
    expect((await world.rest.events(run)).filter(({ kind }) => kind === 'turn.completed')).toHaveLength(1);
  });

  it('that is over at the second attempt leaves only the second attempt’s words', async () => {
    const { run_id: runId } = await world.rest.startRun(`BREAKONCE ${crypto.randomUUID()}`);
    const run = await world.rest.settled(runId);
    expect(run.status).toBe('completed');
    expect(textOf(await world.rest.events(run))).toBe('Second time lucky.');
    const all = (await world.rest.deliveries(run.thread_id)).flatMap(({ event }) => event ?? []);
    expect(all.some(({ retracted }) => retracted === true)).toBe(true);
    expect(all.filter(({ kind }) => kind === 'context.marker')).toMatchObject([{ markerType: 'reconciling' }]);
  });
});

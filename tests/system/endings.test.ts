import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { startModelServer, type ModelServer } from '../fixtures/model-server.ts';
import { Rest, textOf } from '../fixtures/rest.ts';

let model: ModelServer;
let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  model = await startModelServer();
  const env = { OPENAI_API_KEY: 'sk-canary-key', OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'scripted' };
  stack = await startStack({ env });
  rest = new Rest(stack.url);
});
afterAll(async () => {
  await stack?.stop();
  await model?.stop();
});

describe('a cancelled run', () => {
  it('stops the model call in mid-stream, keeps what was shown, and ends once as cancelled', async () => {
    const { run_id: runId } = await rest.startRun('SLOW talk');
    await rest.until('it speaks', async () => (textOf(await rest.events(await rest.run(runId))) === '' ? null : true));
    const aborted = model.aborted();
    const cancel = await rest.send('POST', `/v1/runs/${runId}/cancel`);
    expect(cancel).toMatchObject({ status: 202, body: { cancelling: true } });
    await rest.until('the model call is closed', async () => (model.aborted() > aborted ? true : null), 5_000);
    const run = await rest.settled(runId);
    expect(run).toMatchObject({ status: 'failed', stop_reason: 'cancelled', error: null });
    const events = await rest.events(run);
    expect(textOf(events)).toMatch(/^word0 word1 /);
    expect(events.filter(({ kind }) => kind === 'turn.completed')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ kind: 'turn.completed', stopReason: 'cancelled' });
    expect(await rest.send('POST', `/v1/runs/${runId}/cancel`)).toMatchObject({ status: 200 });
  });

  it('that waits for a person closes what it asked', async () => {
    const { run_id: runId } = await rest.startRun('WRITE then cancel');
    await rest.interruptOf(runId);
    await rest.send('POST', `/v1/runs/${runId}/cancel`);
    const run = await rest.settled(runId);
    const events = await rest.events(run);
    expect(events.find(({ kind }) => kind === 'approval.resolved')).toMatchObject({ decision: 'cancelled' });
    expect(events.find(({ kind }) => kind === 'tool.completed')).toMatchObject({ status: 'error' });
  });

  it('that waits for its turn never starts, and the one behind it does not wait for it', async () => {
    const first = await rest.startRun('WRITE first');
    const second = await rest.startRun('ANSWER second', {}, first.thread_id);
    const third = await rest.startRun('ANSWER third', {}, first.thread_id);
    const [interrupt] = await rest.interruptOf(first.run_id);
    await rest.send('POST', `/v1/runs/${second.run_id}/cancel`);
    expect(await rest.settled(second.run_id)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
    expect(model.calls('ANSWER second')).toBe(0);
    await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'reject' });
    expect((await rest.settled(third.run_id)).status).toBe('completed');
  });

  it('leaves a thread that can go on: the next run sees a valid history', async () => {
    const first = await rest.startRun('WRITE and stop');
    await rest.interruptOf(first.run_id);
    await rest.send('POST', `/v1/runs/${first.run_id}/cancel`);
    await rest.settled(first.run_id);
    const next = await rest.startRun('ANSWER after a stop', {}, first.thread_id);
    expect((await rest.settled(next.run_id)).status).toBe('completed');
  });
});

describe('a provider’s failure', () => {
  it('of the key fails the run at once, in safe words', async () => {
    const { run_id: runId } = await rest.startRun('ERR401 now');
    const run = await rest.settled(runId);
    expect(run).toMatchObject({ status: 'failed', stop_reason: 'error', error: { code: 'provider_auth' } });
    expect(JSON.stringify(run)).not.toContain('canary');
    expect(model.calls('ERR401 now')).toBe(1);
    const events = await rest.events(run);
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
    const { run_id: runId } = await rest.startRun(prompt);
    const run = await rest.settled(runId);
    expect(run).toMatchObject({ status: 'failed', stop_reason: 'error', error: { code } });
    expect(model.calls(prompt)).toBe(5);
    expect((await rest.events(run)).filter(({ kind }) => kind === 'turn.completed')).toHaveLength(1);
  });

  it('that is over at the second attempt leaves only the second attempt’s words', async () => {
    const { run_id: runId } = await rest.startRun(`BREAKONCE ${crypto.randomUUID()}`);
    const run = await rest.settled(runId);
    expect(run.status).toBe('completed');
    expect(textOf(await rest.events(run))).toBe('Second time lucky.');
    const all = (await rest.deliveries(run.thread_id)).flatMap(({ event }) => event ?? []);
    expect(all.some(({ retracted }) => retracted === true)).toBe(true);
    expect(all.filter(({ kind }) => kind === 'context.marker')).toMatchObject([{ markerType: 'reconciling' }]);
  });
});

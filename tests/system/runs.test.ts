import { describe, expect, it } from 'vitest';
import { kindsOf, type Rest, textOf, type Problem, type Run } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld({ gateways: 2 });

describe('a run', () => {
  it('answers, settles, and is proven complete', async () => {
    const { run_id: runId } = await world.rest.startRun('ANSWER the first question');
    const run = await world.rest.settled(runId);
    expect(run).toMatchObject({ status: 'completed', stop_reason: 'stop', canonical_state: 'complete', error: null });
    const events = await world.rest.events(run);
    expect(textOf(events)).toBe('The answer is 42. ñ 你好 🌍');
    expect(kindsOf(events)).toEqual([
      'turn.started',
      'session.started',
      'message.started',
      'message.delta',
      'message.completed',
      'usage.updated',
      'session.metadata',
      'turn.completed',
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
    const { body: proof } = await world.other.send<{ holds: boolean }>('GET', `/v1/runs/${runId}/verify`);
    expect(proof.holds).toBe(true);
  });

  it('says its completion once, last, with a digest that the log gives', async () => {
    const run = await world.rest.settled((await world.rest.startRun('ANSWER again')).run_id);
    const deliveries = await world.rest.deliveries(run.thread_id);
    expect(deliveries.map(({ delivery_seq: seq }) => seq)).toEqual(deliveries.map((_, i) => i + 1));
    expect(deliveries.filter(({ complete }) => complete !== undefined)).toHaveLength(1);
    expect(deliveries.at(-1)?.complete).toMatchObject({
      runId: run.run_id,
      status: 'complete',
      events: (await world.rest.events(run)).length,
    });
  });

  it('runs two tool calls of one message side by side and tells the model both results', async () => {
    const run = await world.rest.settled((await world.rest.startRun('PARALLEL please')).run_id);
    const events = await world.rest.events(run);
    expect(events.filter(({ kind }) => kind === 'tool.completed')).toHaveLength(2);
    expect(textOf(events)).toBe('Two looks at once.Both looks are over.');
    const { body } = await world.rest.send<{ data: { kind: string; status: string }[] }>(
      'GET',
      `/v1/runs/${run.run_id}/steps`,
    );
    expect(body.data.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'model completed',
      'tool completed',
      'tool completed',
      'model completed',
    ]);
  });

  it('answers a call of a tool that is not there instead of failing', async () => {
    const run = await world.rest.settled((await world.rest.startRun('NOSUCH tool')).run_id);
    expect(run.status).toBe('completed');
    const events = await world.rest.events(run);
    expect(events.find(({ kind }) => kind === 'tool.completed')).toMatchObject({ status: 'error' });
    expect(textOf(events)).toBe('That tool is not there.');
  });

  it('waits behind the run before it in its thread, and sees what that one said', async () => {
    const first = await world.rest.startRun('WRITE and wait');
    const second = await world.rest.startRun('ANSWER after that', {}, first.thread_id);
    expect(second.parent_run_id).toBe(first.run_id);
    const [interrupt] = await world.rest.interruptOf(first.run_id);
    expect((await world.rest.run(second.run_id)).status).toBe('queued');
    const busy = await world.rest.send('POST', `/v1/threads/${first.thread_id}/runs`, {
      input: 'ANSWER',
      multitask: 'reject',
    });
    expect(busy).toMatchObject({ status: 409, body: { code: 'thread_busy', active_run_id: first.run_id } });
    await world.other.resolve(interrupt?.interrupt_id ?? '', { decision: 'reject' });
    expect((await world.rest.settled(second.run_id)).status).toBe('completed');
    const turns = (await world.rest.deliveries(first.thread_id)).flatMap(({ event }) => event ?? []);
    const ended = turns.find(({ kind, runId }) => kind === 'turn.completed' && runId === first.run_id);
    const began = turns.find(({ kind, runId }) => kind === 'session.started' && runId === second.run_id);
    expect(began?.deliverySeq).toBeGreaterThan(ended?.deliverySeq ?? Infinity);
  });

  it('goes on when everybody who follows it leaves: closing a stream is not stopping a run', async () => {
    const run = await world.rest.startRun('PARALLEL without an audience');
    const paths = [`/v1/threads/${run.thread_id}/events`, `/v1/runs/${run.run_id}/events?encoding=lifecycle`];
    for (const path of paths) {
      const leaving = new AbortController();
      const res = await fetch(`${world.rest.url}${path}`, {
        headers: { accept: 'text/event-stream' },
        signal: leaving.signal,
      });
      await res.body?.getReader().read();
      leaving.abort();
    }
    expect(await world.rest.settled(run.run_id)).toMatchObject({ status: 'completed', stop_reason: 'stop' });
  });

  it('is one run for one Idempotency-Key, over 20 posts at once to two gateways', async () => {
    const key = crypto.randomUUID();
    const post = async (gateway: Rest) =>
      await gateway.send<Run>('POST', '/v1/runs', { input: 'ANSWER once' }, { 'idempotency-key': key });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => post(i % 2 === 0 ? world.rest : world.other)),
    );
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    expect(
      answers
        .map(({ status }) => String(status))
        .toSorted()
        .map(Number),
    ).toEqual([...Array<number>(19).fill(200), 201]);
    const run = await world.rest.settled(answers[0]?.body.run_id ?? '');
    expect(world.model.calls('ANSWER once')).toBe(1);
    const replayed = await post(world.other);
    expect(replayed).toMatchObject({ status: 200, body: { run_id: run.run_id, status: 'completed' } });
    const reused = await world.rest.send<Problem>(
      'POST',
      '/v1/runs',
      { input: 'ANSWER twice' },
      { 'idempotency-key': key },
    );
    expect(reused).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused', run_id: run.run_id } });
    const elsewhere = await world.rest.send<Run>(
      'POST',
      `/v1/threads/${run.thread_id}/runs`,
      { input: 'ANSWER once' },
      { 'idempotency-key': key },
    );
    expect(elsewhere.status).toBe(201);
  });
});

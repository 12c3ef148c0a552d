import { randomUUID } from 'node:crypto';
import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it } from 'vitest';
import { createLifecycleMachine } from '../../contract/lifecycle-machine.ts';
import type { LifecycleEvent } from '../../contract/lifecycle.ts';
import { textOf, type Run } from '../fixtures/rest.ts';
import { Speaker, type InputPage } from '../fixtures/speaker.ts';
import { SseClient } from '../fixtures/sse-client.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld({ gateways: 2 });
const speaker = new Speaker(world);
const ANSWER = 'The answer is 42. ñ 你好 🌍';

async function framesOf(run: Run, encoding: string): Promise<{ event: string; json: Record<string, unknown> }[]> {
  const client = await SseClient.open(`${world.stack.url}/v1/runs/${run.run_id}/events?encoding=${encoding}`);
  const { frames } = await client.untilClosed(20_000);
  return frames.flatMap(({ event, data }) =>
    event === undefined ? [] : [{ event, json: JSON.parse(data ?? '') as Record<string, unknown> }],
  );
}

describe('a run that is steered while it works', () => {
  it('takes the input before its next model call; until then it waits, also while a person is asked', async () => {
    const { run, approve } = await speaker.parkedRun('a note');
    const steered = await speaker.post(run.thread_id, 'steer', 'ANSWER to what was steered in');
    expect(steered.status).toBe(202);
    expect(steered.body).toMatchObject({
      run_id: run.run_id,
      status: 'running',
      queued_inputs: 1,
      queued_input: { queue: 'steering', state: 'queued', text: 'ANSWER to what was steered in', step_index: null },
    });
    expect(await speaker.inputsOf(run)).toEqual([steered.body.queued_input]);
    expect(world.model.calls('to what was steered in')).toBe(0);

    expect(await approve()).toMatchObject({ status: 'completed', queued_inputs: 0 });

    expect(world.model.calls('to what was steered in')).toBe(1);
    expect(await speaker.toldTo(run)).toEqual(['WRITE a note', 'ANSWER to what was steered in']);
    expect(await speaker.inputsOf(run)).toMatchObject([{ state: 'injected', step_index: 2 }]);
    const events = await world.rest.events(run);
    const kinds = events.map(({ kind }) => kind);
    const at = kinds.lastIndexOf('turn.started');
    expect(events[at]).toMatchObject({
      input: 'ANSWER to what was steered in',
      inputId: steered.body.queued_input?.input_id,
      queue: 'steering',
    });
    expect(at).toBeGreaterThan(kinds.indexOf('tool.completed'));
    expect(at).toBeLessThan(kinds.lastIndexOf('message.started'));
    expect(textOf(events)).toContain(ANSWER);
    expect(await speaker.faultsIn(run)).toEqual([]);
  });

  it('shows the input in every encoding, each of them legal', async () => {
    const { run, approve } = await speaker.parkedRun('for the encodings');
    const { body } = await speaker.post(run.thread_id, 'steer', 'ANSWER\nin every encoding');
    const inputId = body.queued_input?.input_id;
    await approve();

    const lifecycle = (await framesOf(run, 'lifecycle')).map(({ json }) => json as unknown as LifecycleEvent);
    const machine = createLifecycleMachine({ audience: 'public', ephemeral: false });
    let state = machine.initial;
    for (const event of lifecycle) {
      const next = machine.advance(state, event);
      if (!next.ok) throw new Error(`rule ${String(next.rule)}: ${next.reason}`);
      ({ state } = next);
    }
    expect(machine.finish(state)).toEqual({ ok: true });
    expect(lifecycle.find(({ type }) => type === 'warning')?.data).toEqual({
      code: 'input_injected',
      message: 'new input: ANSWER in every encoding',
      details: { input_id: inputId, queue: 'steering', text: 'ANSWER\nin every encoding' },
    });

    const agUi = (await framesOf(run, 'ag-ui')).map(({ json }) => json);
    for (const event of agUi) expect(EventSchema.safeParse(event).success).toBe(true);
    const snapshot = agUi.find(({ type }) => type === 'MESSAGES_SNAPSHOT');
    const held = (snapshot?.['messages'] ?? []) as { id: string; role: string; content: string }[];
    const said = agUi.filter(({ messageId }) => messageId === inputId);
    expect([...held.filter(({ id }) => id === inputId), ...said]).toContainEqual(
      expect.objectContaining({ role: 'user' }),
    );

    const custom = await framesOf(run, 'custom');
    expect(custom.filter(({ event }) => event === 'warning').map(({ json }) => json)).toEqual([
      { message: 'new input: ANSWER in every encoding', namespace: [] },
    ]);
    expect(custom.at(-1)?.event).toBe('done');
    const legacy = await framesOf(run, 'ag-ui-legacy');
    expect(JSON.stringify(legacy)).toContain('new input: ANSWER in every encoding');
    expect(legacy.at(-1)?.event).toBe('RUN_FINISHED');
  });

  it('goes on at its natural stop with what waits, steering before follow-ups, and ends when nothing does', async () => {
    const { run, approve } = await speaker.parkedRun('and go on');
    const [follows, steers, more] = ['ANSWER what follows', 'ANSWER what steers', 'ANSWER what steers more'];
    expect((await speaker.post(run.thread_id, 'follow_up', follows)).status).toBe(202);
    for (const text of [steers, more]) expect((await speaker.post(run.thread_id, 'steer', text)).status).toBe(202);
    expect(await approve()).toMatchObject({ status: 'completed', stop_reason: 'stop' });
    expect(await speaker.toldTo(run)).toEqual(['WRITE and go on', steers, more, follows]);
    const events = await world.rest.events(run);
    expect(events.filter(({ kind }) => kind === 'turn.completed')).toHaveLength(1);
    expect(textOf(events).endsWith(ANSWER + ANSWER + ANSWER)).toBe(true);
    expect(await speaker.faultsIn(run)).toEqual([]);
  });

  it('answers the same request again with the same input; the key does not take another', async () => {
    const { run, approve } = await speaker.parkedRun('for a key');
    const key = randomUUID();
    const first = await speaker.post(run.thread_id, 'steer', 'ANSWER once', { key });
    const again = await Promise.all(
      [world.rest, world.other].map((gateway) => speaker.post(run.thread_id, 'steer', 'ANSWER once', { key, gateway })),
    );
    for (const answer of again) expect(answer).toMatchObject({ status: 202, body: first.body });
    const other = await speaker.post(run.thread_id, 'steer', 'ANSWER twice', { key });
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
    await approve();
    const late = await speaker.post(run.thread_id, 'steer', 'ANSWER once', { key });
    expect(late).toMatchObject({ status: 202, body: { run_id: run.run_id, queued_input: { state: 'injected' } } });
    expect(world.model.calls('ANSWER once')).toBe(1);
  });

  it('drops what waits when the queue is cleared, and when it is cancelled, and says both', async () => {
    const { run } = await speaker.parkedRun('to be cancelled');
    await speaker.post(run.thread_id, 'steer', 'ANSWER cleared');
    await speaker.post(run.thread_id, 'follow_up', 'ANSWER cleared too');
    const path = `/v1/runs/${run.run_id}/inputs`;
    const cleared = await world.rest.send<InputPage>('DELETE', path);
    expect(cleared.body.data).toMatchObject([{ drop_reason: 'cleared' }, { drop_reason: 'cleared' }]);
    expect((await world.rest.send<InputPage>('DELETE', path)).body.data).toEqual([]);
    await speaker.post(run.thread_id, 'steer', 'ANSWER never');
    await world.rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    expect(await world.rest.settled(run.run_id)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
    expect((await speaker.inputsOf(run)).map(({ drop_reason: reason }) => reason)).toEqual([
      'cleared',
      'cleared',
      'run_ended',
    ]);
    const warnings = (await world.rest.events(run)).filter(({ code }) => code === 'input_dropped');
    expect(warnings.map(({ message }) => message)).toEqual([
      '2 queued inputs were dropped: the queue was cleared',
      'a queued input was dropped: the run ended before it took more',
    ]);
    expect(await speaker.faultsIn(run)).toEqual([]);
  });

  it('lists its inputs by pages, to its tenant alone', async () => {
    const { run } = await speaker.parkedRun('with a list');
    for (const text of ['one', 'two', 'three']) await speaker.post(run.thread_id, 'follow_up', text);
    const path = `/v1/runs/${run.run_id}/inputs`;
    const texts: string[] = [];
    for (let query: string | null = '?limit=2'; query !== null;) {
      const page: InputPage = (await world.rest.send<InputPage>('GET', `${path}${query}`)).body;
      texts.push(...page.data.map(({ text }) => text));
      query = page.next_cursor === null ? null : `?limit=2&cursor=${page.next_cursor}`;
    }
    expect(texts).toEqual(['one', 'two', 'three']);
    await world.stack.pool.query(`update run set tenant_id = 'another' where run_id = $1`, [run.run_id]);
    for (const method of ['GET', 'DELETE']) {
      expect(await world.rest.send(method, path)).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
    }
    await world.stack.pool.query(`update run set tenant_id = 'default' where run_id = $1`, [run.run_id]);
    await world.rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    await world.rest.settled(run.run_id);
  });

  it('is a message of the thread that an AG-UI client holds and does not say again', async () => {
    const { run, approve } = await speaker.parkedRun('for a transcript');
    const { body } = await speaker.post(run.thread_id, 'steer', 'ANSWER for a transcript');
    await approve();
    const messages = [
      { id: `${run.run_id}:input`, role: 'user', content: 'WRITE for a transcript' },
      { id: body.queued_input?.input_id, role: 'user', content: 'ANSWER for a transcript' },
    ];
    const transcript = { threadId: run.thread_id, runId: 'again', messages };
    expect(await world.rest.send('POST', '/v1/ag-ui/builtin', transcript)).toMatchObject({
      status: 422,
      body: { code: 'nothing_to_run' },
    });
  });

  it('is answered with its own stream when that is asked for', async () => {
    const { run, approve } = await speaker.parkedRun('for a stream');
    const answer = await fetch(`${world.stack.url}/v1/threads/${run.thread_id}/runs?stream=canonical`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'ANSWER on a stream', multitask: 'steer' }),
    });
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/runs/${run.run_id}`);
    await approve();
    const text = await answer.text();
    expect(text).toContain('"input":"ANSWER on a stream"');
    expect(text).toContain('canonical-complete');
  });
});

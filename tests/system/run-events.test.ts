import { beforeAll, describe, expect, it } from 'vitest';
import { EventSource } from 'eventsource';
import { createLifecycleMachine } from '../../contract/lifecycle-machine.ts';
import type { LifecycleEvent } from '../../contract/lifecycle.ts';
import { validateLifecycleEvent } from '../../contract/lifecycle-validate.ts';
import { type Run } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';
import { SseClient } from '../fixtures/sse-client.ts';

const world = useWorld();
let parked: Run;
let finished: Run;

beforeAll(async () => {
  finished = await world.rest.startRun('WRITE and finish');
  const [interrupt] = await world.rest.interruptOf(finished.run_id);
  await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
  await world.rest.settled(finished.run_id);
  parked = await world.rest.startRun('ASK and stay');
  await world.rest.interruptOf(parked.run_id);
});

async function readAll(path: string, headers: Record<string, string> = {}): Promise<SseClient> {
  const client = await SseClient.open(`${world.stack.url}${path}`, headers, { keepBytes: true });
  return await client.untilClosed(20_000);
}

function lifecycle(client: SseClient): LifecycleEvent[] {
  return client.frames.flatMap(({ event, data }) =>
    event === undefined ? [] : [JSON.parse(data ?? '') as LifecycleEvent],
  );
}

describe('a run as lifecycle v1', () => {
  it('is one legal stream a leg: interrupted first, then finished with a committed thread state', async () => {
    const machine = createLifecycleMachine({ audience: 'public', ephemeral: false });
    const legs = [];
    for (const leg of [1, 2]) {
      const client = await readAll(`/v1/runs/${finished.run_id}/events?encoding=lifecycle&leg=${String(leg)}`);
      const events = lifecycle(client);
      let state = machine.initial;
      for (const event of events) {
        expect(validateLifecycleEvent(event)).toMatchObject({ ok: true });
        const next = machine.advance(state, event);
        if (!next.ok) throw new Error(`rule ${String(next.rule)}: ${next.reason}`);
        state = next.state;
      }
      expect(machine.finish(state)).toEqual({ ok: true });
      legs.push(events);
    }
    expect(legs[0]?.at(-1)).toMatchObject({ type: 'run.interrupted', run_id: finished.run_id });
    expect(legs[0]?.at(-2)?.type).toBe('interrupt.requested');
    expect(legs[1]?.at(-1)).toMatchObject({
      type: 'run.finished',
      run_id: `${finished.run_id}.2`,
      data: { outcome: 'success', thread_state: { durability: 'committed' } },
    });
  });

  it('goes on at its cursor: what came and what comes is what an uninterrupted reader has', async () => {
    const path = `/v1/runs/${finished.run_id}/events?encoding=lifecycle&leg=2`;
    const whole = lifecycle(await readAll(path));
    const ids = (await readAll(path)).frames.flatMap(({ id }) => id ?? []);
    for (const id of ids) {
      const rest2 = lifecycle(await readAll(path, { 'last-event-id': id }));
      expect(whole.slice(whole.length - rest2.length)).toEqual(rest2);
    }
    expect(lifecycle(await readAll(path, { 'last-event-id': ids.at(-1) ?? '' }))).toEqual([]);
  });

  it('shows the leg that has begun last unless one is named; the next leg may be waited for, others are 404', async () => {
    const last = lifecycle(await readAll(`/v1/runs/${finished.run_id}/events?encoding=lifecycle`));
    expect(last[0]?.run_id).toBe(`${finished.run_id}.2`);
    const now = lifecycle(await readAll(`/v1/runs/${parked.run_id}/events?encoding=lifecycle`));
    expect(now.at(-1)?.type).toBe('run.interrupted');
    const missing = await world.rest.send('GET', `/v1/runs/${finished.run_id}/events?encoding=lifecycle&leg=3`);
    expect(missing).toMatchObject({ status: 404, body: { code: 'leg_not_found', legs: 2 } });
    const waiting = await SseClient.open(`${world.stack.url}/v1/runs/${parked.run_id}/events?encoding=lifecycle&leg=2`);
    const [interrupt] = await world.rest.interruptOf(parked.run_id);
    const batch = { resolutions: [{ interrupt_id: interrupt?.interrupt_id, values: { answer: 'red' } }] };
    const resolved = await world.rest.send('POST', `/v1/runs/${parked.run_id}/interrupts/resolve`, batch);
    expect(resolved.status).toBe(200);
    expect(lifecycle(await waiting.untilClosed(20_000)).at(-1)?.type).toBe('run.finished');
  });
});

describe('a run in the older encodings', () => {
  it('custom: real EventSource, the frames of the contract, no ids, done at the end', async () => {
    const seen: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const source = new EventSource(`${world.stack.url}/v1/runs/${finished.run_id}/events?encoding=custom&leg=2`);
      const note = ({ type, lastEventId }: MessageEvent): void => {
        seen.push(type);
        expect(lastEventId).toBe('');
        if (type !== 'done') return;
        source.close();
        resolve();
      };
      for (const name of ['content', 'tool_start', 'tool_end', 'done']) source.addEventListener(name, note);
      source.addEventListener('error', () => reject(new Error('the stream broke')));
    });
    expect(new Set(seen)).toEqual(new Set(['tool_start', 'tool_end', 'content', 'done']));
    const raw = (await readAll(`/v1/runs/${finished.run_id}/events?encoding=custom&leg=1`)).bytes.toString();
    expect(raw).toContain('event: input_required\ndata: {"type": "tool_approval", "interrupt_id": "int_');
    expect(raw).not.toContain('event: done');
  });

  it('ag-ui-legacy: the frames of the contract with their timestamps', async () => {
    const client = await readAll(`/v1/runs/${finished.run_id}/events?encoding=ag-ui-legacy&leg=2`);
    const types = client.frames.flatMap(({ event }) => event ?? []);
    expect(types[0]).toBe('RUN_STARTED');
    expect(types.at(-1)).toBe('RUN_FINISHED');
    expect(client.frames.at(-1)?.data).toMatch(/"outcome": ?"success", ?"timestamp": ?\d+\.\d+\}$/);
  });
});

describe('a run as canonical events', () => {
  it('is the run’s own deliveries with their ids, to its completion', async () => {
    const client = await readAll(`/v1/runs/${finished.run_id}/events`);
    const own = (await world.rest.deliveries(finished.thread_id)).map(({ delivery_seq: seq }) => seq);
    expect(client.seqs).toEqual(own);
    expect(client.deliveries.at(-1)?.complete).toBeDefined();
  });
});

describe('a run created with ?stream=', () => {
  it.each(['canonical', 'lifecycle', 'custom', 'ag-ui', 'ag-ui-legacy'])(
    '%s answers 201 with the stream itself',
    async (encoding) => {
      const res = await fetch(`${world.stack.url}/v1/runs?stream=${encoding}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: `ANSWER as ${encoding}` }),
      });
      expect(res.status).toBe(201);
      expect(res.headers.get('location')).toMatch(/^\/v1\/runs\/run_/);
      expect(res.headers.get('content-type')).toContain('text/event-stream');
      const text = await res.text();
      const expected = {
        canonical: 'canonical-complete',
        lifecycle: 'run.finished',
        custom: 'event: done',
        'ag-ui': 'RUN_FINISHED',
        'ag-ui-legacy': 'RUN_FINISHED',
      };
      expect(text).toContain(expected[encoding as keyof typeof expected]);
    },
  );

  it('is refused with a problem when the encoding is none', async () => {
    const answer = await world.rest.send('POST', '/v1/runs?stream=morse', { input: 'x' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', field: 'stream' } });
  });
});

describe('an interrupt with a deadline', () => {
  it('expires truthfully: the stream says so, the model is told, a late answer is 409', async () => {
    const run = await world.rest.startRun('WRITE before it expires', { settings: { interrupt_timeout_seconds: 2 } });
    const [interrupt] = await world.rest.interruptOf(run.run_id);
    expect((await world.rest.settled(run.run_id)).status).toBe('completed');
    const events = await world.rest.events(run);
    expect(events.find(({ kind }) => kind === 'approval.resolved')).toMatchObject({ decision: 'expired' });
    expect(events.find(({ kind }) => kind === 'tool.completed')).toMatchObject({ status: 'error' });
    expect(await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' })).toMatchObject({
      status: 409,
      body: { code: 'interrupt_already_resolved', interrupt_status: 'expired' },
    });
  });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { acpAgent } from '../fixtures/engine-config.ts';
import type { Answer, Problem } from '../fixtures/rest.ts';
import { Speaker } from '../fixtures/speaker.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld({ gateways: 2, engines: { agent: { kind: 'acp', command: acpAgent() } } });
const speaker = new Speaker(world);

describe('input that no run takes', () => {
  it('is a run of its own, in a thread where none works as in a new one', async () => {
    const run = await world.rest.settled((await world.rest.startRun('ANSWER first')).run_id);
    const own = await speaker.post(run.thread_id, 'steer', 'ANSWER by itself');
    expect(own).toMatchObject({ status: 201, body: { parent_run_id: run.run_id } });
    expect(own.body.queued_input).toBeUndefined();
    await world.rest.settled(own.body.run_id);
    const fresh = await world.rest.startRun('ANSWER in a new thread', { multitask: 'follow_up' });
    expect((await world.rest.settled(fresh.run_id)).status).toBe('completed');
  });

  it('cannot go on from another run', async () => {
    const run = await world.rest.settled((await world.rest.startRun('ANSWER parent')).run_id);
    const body = { parent_run_id: run.run_id };
    expect(await speaker.post(run.thread_id, 'steer', 'x', { body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field: 'parent_run_id' },
    });
  });

  it('is refused, with what to do, while an engine with a loop of its own works; interrupt takes its place', async () => {
    const run = await world.rest.startRun('text hello\nslow', { engine: 'agent' });
    await speaker.untilItSpeaks(run);
    for (const multitask of ['steer', 'follow_up']) {
      const refused = (await speaker.post(run.thread_id, multitask, 'text left')) as unknown as Answer<Problem>;
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'steering_unsupported', active_run_id: run.run_id, engine: 'agent' },
      });
      expect(refused.body.remedy).toContain('interrupt');
    }
    const next = await speaker.post(run.thread_id, 'interrupt', 'ANSWER instead of it');
    expect(next.status).toBe(201);
    expect(await world.rest.settled(run.run_id)).toMatchObject({ stop_reason: 'cancelled' });
    expect((await world.rest.settled(next.body.run_id)).status).toBe('completed');
  });
});

describe('a run that interrupts', () => {
  it('is what the thread goes on with: the one that works and those that wait are cancelled', async () => {
    const run = await world.rest.startRun('SLOW and interrupted');
    await speaker.untilItSpeaks(run);
    const waits = await world.rest.startRun('ANSWER of one that waits', {}, run.thread_id);
    const key = randomUUID();
    const next = await speaker.post(run.thread_id, 'interrupt', 'ANSWER of the one that interrupts', { key });
    expect(next.status).toBe(201);
    expect((await world.rest.settled(next.body.run_id)).status).toBe('completed');
    for (const { run_id: runId } of [run, waits]) {
      expect(await world.rest.settled(runId)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
    }
    expect(world.model.calls('ANSWER of one that waits')).toBe(0);
    // the same request again interrupts nothing
    const later = await world.rest.startRun('TALK of one that came later', {}, run.thread_id);
    const again = await speaker.post(run.thread_id, 'interrupt', 'ANSWER of the one that interrupts', { key });
    expect(again).toMatchObject({ status: 200, body: { run_id: next.body.run_id } });
    expect((await world.rest.settled(later.run_id)).status).toBe('completed');
    expect(await speaker.faultsIn(run)).toEqual([]);
  });
});

describe('many who steer one thread at once, through two gateways', () => {
  it('are each heard exactly once, by the run that works or by one of their own', async () => {
    const first = await world.rest.startRun('ANSWER at the begin of a race');
    const threadId = first.thread_id;
    const texts: string[] = [];
    const runs = new Set([first.run_id]);
    // the next is posted when the model has the one before: as its run comes to its natural stop
    const steer = async (who: number): Promise<void> => {
      for (let i = 0; i < 6; i++) {
        const text = `ANSWER to ${String(who)} for the time ${String(i)}`;
        const multitask = (who + i) % 2 === 0 ? 'steer' : 'follow_up';
        const { status, body } = await speaker.post(threadId, multitask, text, {
          gateway: who % 2 === 0 ? world.rest : world.other,
        });
        expect([201, 202]).toContain(status);
        runs.add(body.run_id);
        texts.push(text);
        await world.rest.until(`${text} is heard`, async () => (world.model.calls(text) > 0 ? true : null));
      }
    };
    await Promise.all([0, 1, 2, 3].map(steer));

    const heard: string[] = [];
    for (const runId of runs) {
      const run = await world.rest.settled(runId);
      expect(run.status).toBe('completed');
      heard.push(...(await speaker.toldTo(run)));
      for (const { state } of await speaker.inputsOf(run)) expect(state).toBe('injected');
    }
    expect(heard.toSorted()).toEqual(['ANSWER at the begin of a race', ...texts].toSorted());
    for (const text of texts) expect(world.model.calls(text)).toBe(1);
    expect(await speaker.faultsIn(first)).toEqual([]);
  });
});

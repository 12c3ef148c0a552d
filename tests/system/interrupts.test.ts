import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { textOf, type Run } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld({ gateways: 2 });

async function written(run: Run, path = 'note.txt'): Promise<string | null> {
  return await readFile(join(world.stack.home, 'workspaces', run.thread_id, path), 'utf8').catch(() => null);
}

async function parked(prompt: string, count = 1): Promise<{ run: Run; ids: string[] }> {
  const run = await world.rest.startRun(prompt);
  const interrupts = await world.rest.interruptOf(run.run_id, count);
  return { run, ids: interrupts.map(({ interrupt_id: id }) => id) };
}

describe('an approval', () => {
  it('stops the run until a person approves, then the tool runs with the model’s arguments', async () => {
    const { run, ids } = await parked('WRITE it');
    expect(await written(run)).toBeNull();
    const { body } = await world.rest.send<{ data: { interrupt_id: string }[] }>(
      'GET',
      `/v1/interrupts?thread_id=${run.thread_id}`,
    );
    expect(body.data.map(({ interrupt_id: id }) => id)).toEqual(ids);
    expect((await world.rest.resolve(ids[0] ?? '', { decision: 'approve' })).status).toBe(200);
    expect((await world.rest.settled(run.run_id)).status).toBe('completed');
    expect(await written(run)).toBe('from the model');
  });

  it('may change the arguments, and the changed ones are what runs', async () => {
    const { run, ids } = await parked('WRITE it, changed');
    const bad = await world.rest.resolve(ids[0] ?? '', { decision: 'edit', edited_args: { path: 7 } });
    expect(bad).toMatchObject({ status: 422, body: { code: 'edited_args_invalid', field: 'edited_args.path' } });
    await world.rest.resolve(ids[0] ?? '', {
      decision: 'edit',
      edited_args: { path: 'other.txt', content: 'from the person' },
    });
    await world.rest.settled(run.run_id);
    expect(await written(run)).toBeNull();
    expect(await written(run, 'other.txt')).toBe('from the person');
  });

  it('may be refused: the tool does not run, and the model is told why', async () => {
    const { run, ids } = await parked('WRITE it not');
    await world.rest.resolve(ids[0] ?? '', { decision: 'reject', message: 'wrong folder' });
    const settled = await world.rest.settled(run.run_id);
    expect(settled.status).toBe('completed');
    expect(await written(run)).toBeNull();
    const events = await world.rest.events(run);
    expect(events.find(({ kind }) => kind === 'approval.resolved')).toMatchObject({
      decision: 'reject',
      message: 'wrong folder',
    });
    expect(events.find(({ kind }) => kind === 'tool.completed')).toMatchObject({ status: 'error' });
  });

  it('is decided once: the same answer 20 times at once over two gateways acts once, another one is 409', async () => {
    const { run, ids } = await parked('WRITE it once');
    const id = ids[0] ?? '';
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, i) => await (i % 2 === 0 ? world.rest : world.other).resolve(id, { decision: 'approve' }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const different = await world.other.resolve(id, { decision: 'reject' });
    expect(different).toMatchObject({
      status: 409,
      body: { code: 'interrupt_already_resolved', recorded_decision: { decision: 'approve' } },
    });
    await world.rest.settled(run.run_id);
    expect((await world.rest.resolve(id, { decision: 'approve' })).status).toBe(200);
    const deliveries = (await world.rest.deliveries(run.thread_id)).flatMap(({ event }) => event ?? []);
    expect(deliveries.filter(({ kind }) => kind === 'approval.resolved')).toHaveLength(1);
    expect(deliveries.filter(({ kind }) => kind === 'tool.completed')).toHaveLength(1);
  });

  it('of three calls runs none until all three are decided, then each as it was decided', async () => {
    const { run, ids } = await parked('THREE files', 3);
    await world.rest.resolve(ids[0] ?? '', { decision: 'approve' });
    await world.rest.resolve(ids[1] ?? '', { decision: 'reject' });
    await world.rest.until('two are decided', async () =>
      (await world.rest.run(run.run_id)).pending_interrupts.length === 1 ? true : null,
    );
    expect([await written(run, 'one.txt'), await written(run, 'three.txt')]).toEqual([null, null]);
    await world.rest.resolve(ids[2] ?? '', { decision: 'edit', edited_args: { path: 'three.txt', content: 'edited' } });
    await world.rest.settled(run.run_id);
    expect([await written(run, 'one.txt'), await written(run, 'two.txt'), await written(run, 'three.txt')]).toEqual([
      'one',
      null,
      'edited',
    ]);
  });

  it('is never given by what is no decision', async () => {
    const { run, ids } = await parked('WRITE it never');
    for (const body of [
      {},
      { decision: 'yes' },
      { decision: 'approve', extra: 1 },
      '{"decision":',
      { dismissed: true },
    ]) {
      const { status, body: problem } = await world.rest.resolve(ids[0] ?? '', body);
      expect([400, 422]).toContain(status);
      expect(problem.remedy).not.toBe('');
    }
    expect((await world.rest.run(run.run_id)).pending_interrupts).toHaveLength(1);
    expect(await world.rest.resolve('int_nothing', { decision: 'approve' })).toMatchObject({ status: 404 });
    await world.rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    await world.rest.settled(run.run_id);
    expect(await world.rest.resolve(ids[0] ?? '', { decision: 'approve' })).toMatchObject({
      status: 409,
      body: { code: 'interrupt_already_resolved', interrupt_status: 'cancelled' },
    });
  });
});

describe('an answer', () => {
  it('at any moment after the asking is taken once and acted on once: nothing is stuck, nothing is done twice', async () => {
    const trials = Array.from({ length: 24 }, (_, i) => i * 12);
    await Promise.all(
      trials.map(async (offsetMs) => {
        const run = await world.rest.startRun(`WRITE at ${String(offsetMs)} ms`);
        const [interrupt] = await world.rest.interruptOf(run.run_id);
        await sleep(offsetMs);
        const gateway = offsetMs % 24 === 0 ? world.rest : world.other;
        expect((await gateway.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' })).status).toBe(200);
        expect((await world.rest.settled(run.run_id)).status).toBe('completed');
        const deliveries = (await world.rest.deliveries(run.thread_id)).flatMap(({ event }) => event ?? []);
        expect(deliveries.filter(({ kind }) => kind === 'approval.resolved')).toHaveLength(1);
        expect(deliveries.filter(({ kind }) => kind === 'file.changed')).toHaveLength(1);
      }),
    );
  });
});

describe('a question', () => {
  it('is asked on the stream and its answer is the tool’s result', async () => {
    const { run, ids } = await parked('ASK me');
    expect((await world.rest.run(run.run_id)).pending_interrupts[0]).toMatchObject({
      kind: 'question',
      prompt: 'Which colour?',
    });
    await world.rest.resolve(ids[0] ?? '', { values: { answer: 'blue' } });
    await world.rest.settled(run.run_id);
    const events = await world.rest.events(run);
    expect(events.find(({ kind }) => kind === 'question.requested')).toMatchObject({ options: ['red', 'blue'] });
    expect(events.find(({ kind }) => kind === 'question.resolved')).toMatchObject({
      answer: 'blue',
      status: 'answered',
    });
    expect(events.find(({ kind }) => kind === 'tool.completed')).toMatchObject({ status: 'ok', preview: 'blue' });
    expect(textOf(events)).toBe('Thank you.');
  });

  it('may be dismissed', async () => {
    const { run, ids } = await parked('ASK me not');
    await world.rest.resolve(ids[0] ?? '', { dismissed: true });
    await world.rest.settled(run.run_id);
    const events = await world.rest.events(run);
    expect(events.find(({ kind }) => kind === 'question.resolved')).toMatchObject({ status: 'rejected' });
    expect(events.find(({ kind }) => kind === 'tool.completed')).toMatchObject({ status: 'error' });
  });
});

describe('a signal sent straight to Temporal', () => {
  it('answers an interrupt; a malformed one is said on the stream and changes nothing', async () => {
    const { run, ids } = await parked('WRITE by signal');
    const connection = await Connection.connect({ address: world.stack.temporalAddress });
    const temporal = new Client({ connection, namespace: world.stack.namespace });
    const handle = temporal.workflow.getHandle(run.run_id);
    await handle.signal('resolveInterrupt', { interrupt_id: ids[0], decision: 'aprove' });
    await world.rest.until('the refusal is said', async () => {
      const events = await world.rest.events(run);
      return events.find(({ kind }) => kind === 'harness.warning') ?? null;
    });
    expect((await world.rest.run(run.run_id)).pending_interrupts).toHaveLength(1);
    await handle.signal('resolveInterrupt', { interrupt_id: ids[0], decision: 'approve' });
    expect((await world.rest.settled(run.run_id)).status).toBe('completed');
    expect(await written(run)).toBe('from the model');
    await connection.close();
  });

  it('finds the run shown as waiting, with how to answer, under its thread, engine, model and state', async () => {
    const { run, ids } = await parked('WRITE and show');
    const connection = await Connection.connect({ address: world.stack.temporalAddress });
    const temporal = new Client({ connection, namespace: world.stack.namespace });
    const { searchAttributes } = await world.rest.until('the state is shown', async () => {
      const described = await temporal.workflow.getHandle(run.run_id).describe();
      return String(described.searchAttributes['TidemarkState']) === 'waiting' ? described : null;
    });
    expect(searchAttributes).toMatchObject({
      TidemarkThread: [run.thread_id],
      TidemarkEngine: ['builtin'],
      TidemarkModel: ['openai/scripted'],
    });
    const metadata = await temporal.workflow
      .getHandle(run.run_id)
      .query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain(ids[0]);
    expect(metadata.currentDetails).toContain('temporal workflow signal');
    await world.rest.resolve(ids[0] ?? '', { decision: 'reject' });
    await world.rest.settled(run.run_id);
    await connection.close();
  });
});

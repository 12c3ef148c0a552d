import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();
let connection: Connection;
let temporal: Client;

beforeAll(async () => {
  connection = await Connection.connect({ address: world.stack.temporalAddress });
  temporal = new Client({ connection, namespace: world.stack.namespace });
});
afterAll(async () => {
  await connection?.close();
});

async function sweep(): Promise<void> {
  await temporal.schedule.getHandle('tidemark-sweep').trigger('ALLOW_ALL');
}

describe('the sweep', () => {
  it('ends a run whose workflow was terminated in Temporal, closes what it asked, and lets the next run go on', async () => {
    const run = await world.rest.startRun('WRITE and be terminated');
    const [interrupt] = await world.rest.interruptOf(run.run_id);
    const next = await world.rest.startRun('ANSWER after the terminated', {}, run.thread_id);
    await temporal.workflow.getHandle(run.run_id).terminate('an operator did it');
    const settled = await world.rest.until('the sweep ends it', async () => {
      await sweep();
      const now = await world.rest.run(run.run_id);
      return now.canonical_state === 'complete' ? now : null;
    });
    expect(settled).toMatchObject({ status: 'failed', stop_reason: 'error', error: { code: 'workflow_terminated' } });
    expect((await world.rest.settled(next.run_id)).status).toBe('completed');
    const late = await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    expect(late).toMatchObject({ status: 409, body: { interrupt_status: 'cancelled' } });
    const events = await world.rest.events(run);
    expect(events.find(({ kind }) => kind === 'approval.resolved')).toMatchObject({ decision: 'cancelled' });
    expect(events.at(-1)?.kind).toBe('turn.completed');
  });

  it('takes over what a dead canonicalization left, once an operator asks for it', async () => {
    const run = await world.rest.settled((await world.rest.startRun('ANSWER then die')).run_id);
    expect(await world.rest.send('POST', `/v1/runs/${run.run_id}/canonicalize`)).toMatchObject({ status: 409 });
    await world.stack.pool.query(
      `update outbox set state = 'dead', attempt_count = 8, last_error = 'tried' where run_id = $1`,
      [run.run_id],
    );
    await world.stack.pool.query(`delete from delivery where run_id = $1 and record = 'complete'`, [run.run_id]);
    const { body } = await world.rest.send<{ data: { run_id: string }[] }>('GET', '/v1/outbox');
    expect(body.data).toMatchObject([{ run_id: run.run_id, attempt_count: 8, last_error: 'tried' }]);
    expect(await world.rest.send('POST', `/v1/runs/${run.run_id}/canonicalize`)).toMatchObject({ status: 202 });
    await world.rest.until('it is complete again', async () => {
      await sweep();
      return (await world.rest.run(run.run_id)).canonical_state === 'complete' ? true : null;
    });
    expect((await world.rest.send<{ data: unknown[] }>('GET', '/v1/outbox')).body.data).toEqual([]);
  });
});

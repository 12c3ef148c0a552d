import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { startModelServer, type ModelServer } from '../fixtures/model-server.ts';
import { Rest } from '../fixtures/rest.ts';

let model: ModelServer;
let stack: Stack;
let rest: Rest;
let connection: Connection;
let temporal: Client;

beforeAll(async () => {
  model = await startModelServer();
  stack = await startStack({
    env: { OPENAI_API_KEY: 'sk-canary-key', OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'scripted' },
  });
  rest = new Rest(stack.url);
  connection = await Connection.connect({ address: stack.temporalAddress });
  temporal = new Client({ connection, namespace: stack.namespace });
});
afterAll(async () => {
  await connection?.close();
  await stack?.stop();
  await model?.stop();
});

async function sweep(): Promise<void> {
  await temporal.schedule.getHandle('tidemark-sweep').trigger('ALLOW_ALL');
}

describe('the sweep', () => {
  it('ends a run whose workflow was terminated in Temporal, closes what it asked, and lets the next run go on', async () => {
    const run = await rest.startRun('WRITE and be terminated');
    const [interrupt] = await rest.interruptOf(run.run_id);
    const next = await rest.startRun('ANSWER after the terminated', {}, run.thread_id);
    await temporal.workflow.getHandle(run.run_id).terminate('an operator did it');
    const settled = await rest.until('the sweep ends it', async () => {
      await sweep();
      const now = await rest.run(run.run_id);
      return now.canonical_state === 'complete' ? now : null;
    });
    expect(settled).toMatchObject({ status: 'failed', stop_reason: 'error', error: { code: 'workflow_terminated' } });
    expect((await rest.settled(next.run_id)).status).toBe('completed');
    const late = await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    expect(late).toMatchObject({ status: 409, body: { interrupt_status: 'cancelled' } });
    const events = await rest.events(run);
    expect(events.find(({ kind }) => kind === 'approval.resolved')).toMatchObject({ decision: 'cancelled' });
    expect(events.at(-1)?.kind).toBe('turn.completed');
  });

  it('takes over what a dead canonicalization left, once an operator asks for it', async () => {
    const run = await rest.settled((await rest.startRun('ANSWER then die')).run_id);
    expect(await rest.send('POST', `/v1/runs/${run.run_id}/canonicalize`)).toMatchObject({ status: 409 });
    await stack.pool.query(
      `update outbox set state = 'dead', attempt_count = 8, last_error = 'tried' where run_id = $1`,
      [run.run_id],
    );
    await stack.pool.query(`delete from delivery where run_id = $1 and record = 'complete'`, [run.run_id]);
    const { body } = await rest.send<{ data: { run_id: string }[] }>('GET', '/v1/outbox');
    expect(body.data).toMatchObject([{ run_id: run.run_id, attempt_count: 8, last_error: 'tried' }]);
    expect(await rest.send('POST', `/v1/runs/${run.run_id}/canonicalize`)).toMatchObject({ status: 202 });
    await rest.until('it is complete again', async () => {
      await sweep();
      return (await rest.run(run.run_id)).canonical_state === 'complete' ? true : null;
    });
    expect((await rest.send<{ data: unknown[] }>('GET', '/v1/outbox')).body.data).toEqual([]);
  });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { textOf, type Run } from '../fixtures/rest.ts';
import {
  model,
  stack,
  rest,
  effects,
  workerThatDiesAt,
  gatewayThatDiesAt,
  watched,
  ends,
  TIMEOUT,
  useCrashPoints,
} from './harness/points.ts';

useCrashPoints();

describe('a worker that dies', () => {
  it(
    'input.injected: when an input was put before the model, before the model is called, leaves it to be heard, once',
    async () => {
      const { died } = await workerThatDiesAt('input.injected');
      const run = await watched(await rest.startRun('STORE steered.txt'));
      const [interrupt] = await rest.interruptOf(run.run_id);
      const steer = { input: 'ANSWER to what was steered in', multitask: 'steer' };
      expect((await rest.send('POST', `/v1/threads/${run.thread_id}/runs`, steer)).status).toBe(202);
      await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
      await died();
      await ends(run);
      expect(model.calls(steer.input)).toBe(1);
      const events = await rest.events(run);
      expect(events.filter(({ kind, inputId }) => kind === 'turn.started' && inputId !== undefined)).toHaveLength(1);
      expect(textOf(events).endsWith('The answer is 42. ñ 你好 🌍')).toBe(true);
    },
    TIMEOUT,
  );

  it(
    'model-step.committed: when a natural stop has promised to go on, before the activity says so, leaves a run that does',
    async () => {
      const worker = await stack.startWorker();
      const run = await watched(await rest.startRun('STORE promised.txt'));
      const [interrupt] = await rest.interruptOf(run.run_id);
      await worker.kill('SIGKILL');
      const followUp = { input: 'ANSWER to what follows', multitask: 'follow_up' };
      expect((await rest.send('POST', `/v1/threads/${run.thread_id}/runs`, followUp)).status).toBe(202);
      await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
      // its first model step is the one that stops
      const { died } = await workerThatDiesAt('model-step.committed');
      await died();
      await ends(run);
      expect(model.calls('STORE promised.txt')).toBe(2);
      expect(model.calls(followUp.input)).toBe(1);
    },
    TIMEOUT,
  );
});

describe('a gateway that dies', () => {
  it(
    'run.create.committed: when the run is stored, before its workflow is started, leaves a run that starts once',
    async () => {
      const { rest: doomed, gateway } = await gatewayThatDiesAt('run.create.committed');
      const key = { 'idempotency-key': randomUUID() };
      const body = { input: 'ANSWER posted to one that dies' };
      await expect(doomed.send('POST', '/v1/runs', body, key)).rejects.toThrow('fetch failed');
      expect(await gateway.exited).toBe('SIGKILL');
      const again = await rest.send<Run>('POST', '/v1/runs', body, key);
      expect(again.status).toBe(200);
      await stack.startWorker();
      await ends(again.body);
      expect(model.calls(body.input)).toBe(1);
    },
    TIMEOUT,
  );

  it(
    'run.cancel.committed: when the cancel is stored, before anyone is told, leaves a run that is cancelled',
    async () => {
      await stack.startWorker();
      const run = await rest.startRun('SLOW to be cancelled by one that dies');
      await rest.until('it speaks', async () => (textOf(await rest.events(run)) === '' ? null : true));
      const { rest: doomed, gateway } = await gatewayThatDiesAt('run.cancel.committed');
      await expect(doomed.send('POST', `/v1/runs/${run.run_id}/cancel`)).rejects.toThrow('fetch failed');
      expect(await gateway.exited).toBe('SIGKILL');
      await ends(run, 'failed');
      expect((await rest.run(run.run_id)).stop_reason).toBe('cancelled');
    },
    TIMEOUT,
  );

  it(
    'decision.committed: when the answer is stored, before the run is woken, leaves a run that goes on; the answer stands',
    async () => {
      await stack.startWorker();
      const run = await watched(await rest.startRun('STORE answered.txt'));
      const [interrupt] = await rest.interruptOf(run.run_id);
      const id = interrupt?.interrupt_id ?? '';
      const { rest: doomed, gateway } = await gatewayThatDiesAt('decision.committed');
      await expect(doomed.resolve(id, { decision: 'approve' })).rejects.toThrow('fetch failed');
      expect(await gateway.exited).toBe('SIGKILL');
      expect((await rest.resolve(id, { decision: 'approve' })).status).toBe(200);
      expect((await rest.resolve(id, { decision: 'reject' })).status).toBe(409);
      await ends(run);
      expect(effects.writes('answered.txt')).toBe(1);
    },
    TIMEOUT,
  );
});

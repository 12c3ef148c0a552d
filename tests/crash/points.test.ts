import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../infra/crash-point.ts';
import { startStack, type Stack, type StackProcess } from '../../infra/testing/stack.ts';
import { startModelServer, type ModelServer } from '../fixtures/model-server.ts';
import { Rest, textOf, type Run } from '../fixtures/rest.ts';
import { inspectThread } from './harness/checks.ts';
import { Effects } from './harness/effects.ts';

/** A heartbeat or workflow task has to time out first, or the lease of a claim. */
const RECOVERED_WITHIN_MS = 120_000;
const TIMEOUT = 180_000;
let model: ModelServer;
let stack: Stack;
let rest: Rest;
let effects: Effects;

beforeAll(async () => {
  model = await startModelServer();
  const env = { OPENAI_API_KEY: 'sk-canary-key', OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'scripted' };
  stack = await startStack({ workers: 0, env });
  rest = new Rest(stack.url);
}, TIMEOUT);
afterAll(async () => {
  await stack?.stop();
  await model?.stop();
}, TIMEOUT);
beforeEach(async () => {
  effects = new Effects();
  await effects.start();
});
afterEach(async () => {
  await Promise.all(stack.workers.map(async (worker) => await worker.kill('SIGKILL')));
  await effects.stop();
});

/** A worker that dies at a point; `died` resolves when it has, and another one is there. */
async function workerThatDiesAt(point: CrashPoint): Promise<{ died: () => Promise<void> }> {
  const doomed = await stack.startWorker({ TIDEMARK_CRASH_AT: point });
  return {
    async died() {
      expect(await doomed.exited).toBe('SIGKILL');
      await stack.startWorker();
    },
  };
}

async function gatewayThatDiesAt(point: CrashPoint): Promise<{ rest: Rest; gateway: StackProcess }> {
  const gateway = await stack.startGateway(0, { TIDEMARK_CRASH_AT: point });
  return { rest: new Rest(gateway.url), gateway };
}

async function watched(run: Run): Promise<Run> {
  await effects.watchThread(stack.home, run.thread_id);
  return run;
}

async function ends(run: Run, status = 'completed'): Promise<void> {
  await isOver(run, status);
  expect((await inspectThread(rest, run.thread_id)).faults).toEqual([]);
}

async function isOver(run: Run, status = 'completed'): Promise<void> {
  const end = await rest.until(
    `run ${run.run_id} complete`,
    async () => {
      const now = await rest.run(run.run_id);
      return now.canonical_state === 'complete' ? now : null;
    },
    RECOVERED_WITHIN_MS,
  );
  expect(end.status).toBe(status);
}

async function signal(run: Run, answer: unknown): Promise<void> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection, namespace: stack.namespace });
  await temporal.workflow.getHandle(run.run_id).signal('resolveInterrupt', answer);
  await connection.close();
}

async function filesChanged(run: Run): Promise<number> {
  return (await rest.events(run)).filter(({ kind }) => kind === 'file.changed').length;
}

describe('a worker that dies', () => {
  it.each<[CrashPoint, string, string]>([
    ['model-step.committed', 'the answer is stored', 'before the activity says so'],
    ['settle.uncommitted', 'the settlement is written', 'before it commits'],
    ['settle.committed', 'the run is settled', 'before its intent is claimed'],
    ['translating', 'the claim is taken', 'while it translates'],
    ['complete.committed', 'the completion is stored', 'before segments are written'],
  ])(
    '%s: when %s, %s, leaves a run that another one ends, with one model call',
    async (point) => {
      const { died } = await workerThatDiesAt(point);
      const input = `ANSWER at ${point}`;
      const run = await rest.startRun(input);
      const next = await rest.startRun(`ANSWER behind ${point}`, {}, run.thread_id);
      await died();
      await isOver(next);
      await ends(run);
      expect(model.calls(input)).toBe(1);
      expect(textOf(await rest.events(run))).toBe('The answer is 42. ñ 你好 🌍');
    },
    TIMEOUT,
  );

  it(
    'interrupt.committed: when the question is stored and its run knows nothing of it, leaves it to be answered, once',
    async () => {
      const { died } = await workerThatDiesAt('interrupt.committed');
      const run = await watched(await rest.startRun('STORE asked.txt'));
      const [interrupt] = await rest.interruptOf(run.run_id);
      await died();
      expect((await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' })).status).toBe(200);
      await ends(run);
      expect((await rest.events(run)).filter(({ kind }) => kind === 'approval.requested')).toHaveLength(1);
      expect(effects.writes('asked.txt')).toBe(1);
    },
    TIMEOUT,
  );

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

  it(
    'tool-step.committed: when the result is stored, before the activity says so, leaves a step that is not run again',
    async () => {
      const { died } = await workerThatDiesAt('tool-step.committed');
      const run = await watched(await rest.startRun('STORE stored.txt'));
      const [interrupt] = await rest.interruptOf(run.run_id);
      await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
      await died();
      await ends(run);
      expect(effects.writes('stored.txt')).toBe(1);
      expect(await filesChanged(run)).toBe(1);
    },
    TIMEOUT,
  );

  it(
    'tool.took-effect: when the file is written and nothing says so, leaves an unknown outcome, never a second effect',
    async () => {
      const { died } = await workerThatDiesAt('tool.took-effect');
      const run = await watched(await rest.startRun('STORE effect.txt'));
      const [interrupt] = await rest.interruptOf(run.run_id);
      await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
      await died();
      await ends(run);
      expect(effects.writes('effect.txt')).toBe(1);
      const completed = (await rest.events(run)).find(({ kind }) => kind === 'tool.completed');
      expect(JSON.stringify(completed)).toContain('outcome is unknown');
    },
    TIMEOUT,
  );

  it(
    'decision.committed: when an answer by signal is recorded, before the workflow knows, leaves a run that goes on',
    async () => {
      const { died } = await workerThatDiesAt('decision.committed');
      const run = await watched(await rest.startRun('STORE signalled.txt'));
      const [interrupt] = await rest.interruptOf(run.run_id);
      await signal(run, { interrupt_id: interrupt?.interrupt_id, decision: 'approve' });
      await died();
      await ends(run);
      expect(effects.writes('signalled.txt')).toBe(1);
      expect((await rest.events(run)).filter(({ kind }) => kind === 'approval.resolved')).toHaveLength(1);
    },
    TIMEOUT,
  );
});

describe('a worker that dies while a sub-agent works', () => {
  const delegated = (task: string): string => `DELEGATE [{"task":"${task}"}]`;
  const childText = async (run: Run): Promise<string> =>
    textOf((await rest.events(run)).filter(({ identity }) => 'nativeSessionId' in (identity as object)));

  it.each<[CrashPoint, string, string]>([
    ['sub-agent.opened', 'it is begun', 'before its workflow is started'],
    ['sub-agent.ended', 'its result is stored', 'before the run’s workflow says so'],
    ['model-step.committed', 'the call that delegates is stored', 'before the activity says so'],
  ])(
    '%s: when %s, %s, leaves one that works once',
    async (point) => {
      const { died } = await workerThatDiesAt(point);
      const run = await rest.startRun(delegated(`answer at ${point}`));
      await died();
      await ends(run);
      expect(model.calls(`ANSWER at ${point}`)).toBe(1);
      expect(await childText(run)).toBe('The answer is 42. ñ 你好 🌍');
      const kinds = (await rest.events(run)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'child.started' || kind === 'child.completed')).toHaveLength(2);
    },
    TIMEOUT,
  );

  it(
    'tool.took-effect: leaves an unknown outcome in the sub-agent, never a second effect, and a run that goes on',
    async () => {
      const { died } = await workerThatDiesAt('tool.took-effect');
      const run = await watched(await rest.startRun(delegated('store by-child.txt')));
      const [interrupt] = await rest.interruptOf(run.run_id);
      await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
      await died();
      await ends(run);
      expect(effects.writes('by-child.txt')).toBe(1);
      const completed = (await rest.events(run)).find(({ kind }) => kind === 'tool.completed');
      expect(JSON.stringify(completed)).toContain('outcome is unknown');
    },
    TIMEOUT,
  );

  it(
    'in the middle of its words: repeats that one model call, and withdraws what the dead attempt had said',
    async () => {
      const doomed = await stack.startWorker();
      const run = await rest.startRun(delegated('talk to one that dies'));
      await rest.until('it speaks', async () => ((await childText(run)) === '' ? null : true));
      await doomed.kill('SIGKILL');
      await stack.startWorker();
      await ends(run);
      expect(model.calls('TALK to one that dies')).toBe(2);
      expect(model.calls('talk to one that dies')).toBe(2);
      expect(await childText(run)).toBe(Array.from({ length: 50 }, (_, i) => `word${String(i)} `).join(''));
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

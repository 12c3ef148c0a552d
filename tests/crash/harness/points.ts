import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { CrashPoint } from '../../../infra/crash-point.ts';
import { startStack, type Stack, type StackProcess } from '../../../infra/testing/stack.ts';
import { startModelServer, type ModelServer } from '../../fixtures/model-server.ts';
import { Rest, type Run } from '../../fixtures/rest.ts';
import { inspectThread } from './checks.ts';
import { Effects } from './effects.ts';

/** A heartbeat or workflow task has to time out first, or the lease of a claim. */
const RECOVERED_WITHIN_MS = 120_000;
export const TIMEOUT = 180_000;

export let model: ModelServer;
export let stack: Stack;
export let rest: Rest;
export let effects: Effects;

/** A file's own stack without a worker, with a model and a record of effects: each test starts the workers that it needs. */
export function useCrashPoints(): void {
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
}

/** A worker that dies at a point; `died` resolves when it has, and another one is there. */
export async function workerThatDiesAt(point: CrashPoint): Promise<{ died: () => Promise<void> }> {
  const doomed = await stack.startWorker({ TIDEMARK_CRASH_AT: point });
  return {
    async died() {
      expect(await doomed.exited).toBe('SIGKILL');
      await stack.startWorker();
    },
  };
}

export async function gatewayThatDiesAt(point: CrashPoint): Promise<{ rest: Rest; gateway: StackProcess }> {
  const gateway = await stack.startGateway(0, { TIDEMARK_CRASH_AT: point });
  return { rest: new Rest(gateway.url), gateway };
}

export async function watched(run: Run): Promise<Run> {
  await effects.watchThread(stack.home, run.thread_id);
  return run;
}

export async function ends(run: Run, status = 'completed'): Promise<void> {
  await isOver(run, status);
  expect((await inspectThread(rest, run.thread_id)).faults).toEqual([]);
}

export async function isOver(run: Run, status = 'completed'): Promise<void> {
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

export async function signal(run: Run, answer: unknown): Promise<void> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection, namespace: stack.namespace });
  await temporal.workflow.getHandle(run.run_id).signal('resolveInterrupt', answer);
  await connection.close();
}

export async function filesChanged(run: Run): Promise<number> {
  return (await rest.events(run)).filter(({ kind }) => kind === 'file.changed').length;
}

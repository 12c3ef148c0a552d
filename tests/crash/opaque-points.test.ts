import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../infra/crash-point.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { acpAgent, engineConfig } from '../fixtures/engine-config.ts';
import { Rest, textOf, type Run } from '../fixtures/rest.ts';

/** A heartbeat has to time out first. */
const RECOVERED_WITHIN_MS = 90_000;
const TIMEOUT = 120_000;
let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  const file = await engineConfig({
    agent: { kind: 'acp', command: acpAgent() },
    forgetful: { kind: 'acp', command: acpAgent('--without', 'resume,load') },
  });
  stack = await startStack({ workers: 0, env: { TIDEMARK_CONFIG: file } });
  rest = new Rest(stack.url);
}, TIMEOUT);
afterAll(async () => {
  await stack?.stop();
}, TIMEOUT);
afterEach(async () => {
  await Promise.all(stack.workers.map(async (worker) => await worker.kill('SIGKILL')));
});

async function start(engine: string, input: string): Promise<Run> {
  return (await rest.send<Run>('POST', '/v1/runs', { engine, input })).body;
}

/** A run whose worker dies at a point, and another worker. */
async function runThroughDeathAt(point: CrashPoint, engine: string, input: string): Promise<Run> {
  const doomed = await stack.startWorker({ TIDEMARK_CRASH_AT: point });
  const run = await start(engine, input);
  expect(await doomed.exited).toBe('SIGKILL');
  await stack.startWorker();
  return run;
}

async function isOver({ run_id: runId }: Run): Promise<Run> {
  return await rest.until(
    `run ${runId} complete`,
    async () => {
      const now = await rest.run(runId);
      return now.canonical_state.startsWith('complete') ? now : null;
    },
    RECOVERED_WITHIN_MS,
  );
}

async function sessionOf(run: Run): Promise<Record<string, unknown>> {
  return (await rest.send<Record<string, unknown>>('GET', `/v1/threads/${run.thread_id}/session`)).body;
}

describe('a worker that dies in the turn of an engine with its own loop', () => {
  it(
    'after the engine was given the turn: the next one takes the session up, and never gives the turn again',
    async () => {
      const run = await runThroughDeathAt('turn.prompted', 'agent', 'text hello');
      // the agent knows no step "Your process was stopped …": it refuses the continuation, in its own words
      const end = await isOver(run);
      expect(end).toMatchObject({ status: 'failed', error: { code: 'engine_failed' } });
      const events = await rest.events(run);
      expect(textOf(events)).toBe('');
      expect(events.filter(({ kind }) => kind === 'context.marker')).toMatchObject([
        { markerType: 'reconciling', sourcePayload: { generation: 2 } },
      ]);
      expect(await sessionOf(run)).toMatchObject({ generation: 2 });
    },
    TIMEOUT,
  );

  it(
    'whose session cannot be taken up again: the run fails and says that side effects are possible',
    async () => {
      const run = await runThroughDeathAt('turn.prompted', 'forgetful', 'text hello');
      const end = await isOver(run);
      expect(end).toMatchObject({ status: 'failed', error: { code: 'engine_lost' } });
      expect(end.error?.message).toContain('stays done');
      expect(await sessionOf(run)).toMatchObject({ durability: 'uncertain', revision: 0 });
    },
    TIMEOUT,
  );

  it(
    'after the turn was ended: the result stands, and the engine is not driven again',
    async () => {
      const run = await runThroughDeathAt('turn-step.committed', 'agent', 'text once');
      expect(await isOver(run)).toMatchObject({ status: 'completed', stop_reason: 'end_turn' });
      expect(textOf(await rest.events(run))).toBe('once');
      expect(await sessionOf(run)).toMatchObject({ generation: 1, revision: 1, durability: 'committed' });
    },
    TIMEOUT,
  );

  it(
    'between a question’s commit and its publication: the question is there once, and stays open',
    async () => {
      const run = await runThroughDeathAt('ask.committed', 'agent', 'permission');
      const asked = await rest.until(
        'the question',
        async () => (await rest.run(run.run_id)).pending_interrupts[0] ?? null,
        RECOVERED_WITHIN_MS,
      );
      expect(asked).toMatchObject({ status: 'pending', prompt: 'execute: make it' });
      await isOver(run);
      const requested = (await rest.events(run)).filter(({ kind }) => kind === 'approval.requested');
      expect(requested).toHaveLength(1);
    },
    TIMEOUT,
  );
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../infra/crash-point.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { isForSummary, startBoundedModel, textOf, type BoundedModel } from '../fixtures/bounded-model.ts';
import { Rest, type Run } from '../fixtures/rest.ts';
import { inspectThread } from './harness/checks.ts';

/** A heartbeat has to time out first. */
const RECOVERED_WITHIN_MS = 120_000;
const TIMEOUT = 180_000;
let model: BoundedModel;
let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  model = await startBoundedModel();
  const env = { OPENAI_API_KEY: 'sk-canary-key', OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'unknown' };
  stack = await startStack({ env });
  rest = new Rest(stack.url);
}, TIMEOUT);
afterAll(async () => {
  await stack?.stop();
  await model?.stop();
}, TIMEOUT);

async function complete(run: Run): Promise<Run> {
  const end = async (): Promise<Run | null> => {
    const now = await rest.run(run.run_id);
    return now.canonical_state === 'complete' ? now : null;
  };
  return await rest.until(`run ${run.run_id} complete`, end, RECOVERED_WITHIN_MS);
}

describe('a worker that dies', () => {
  it.each<[CrashPoint, string, number]>([
    ['compaction.summarized', 'before the summary is stored', 2],
    ['compaction.committed', 'when the summary is stored', 1],
  ])(
    '%s: %s, leaves a run that another one ends, with %i requests for a summary and one compaction',
    async (point, _when, summaries) => {
      model.prompts.length = 0;
      const settings = { context_tokens: 6_000 };
      let threadId: string | undefined;
      for (const name of ['alpha', 'beta', 'gamma']) {
        const run = await rest.startRun(`${name} `.repeat(450), { settings }, threadId);
        threadId = run.thread_id;
        await complete(run);
      }
      expect(model.prompts.filter(isForSummary)).toEqual([]);
      await Promise.all(stack.workers.splice(0).map(async (worker) => await worker.end()));
      const doomed = await stack.startWorker({ TIDEMARK_CRASH_AT: point });
      const run = await rest.startRun('delta '.repeat(450), { settings }, threadId);
      expect(await doomed.exited).toBe('SIGKILL');
      await stack.startWorker();
      expect((await complete(run)).status).toBe('completed');

      expect(model.prompts.filter(isForSummary)).toHaveLength(summaries);
      const answer = model.prompts.at(-1);
      expect(answer === undefined ? '' : textOf(answer)).toContain('They count things.');
      const { rows } = await stack.pool.query('select 1 from compaction where run_id = $1', [run.run_id]);
      expect(rows).toHaveLength(1);
      const markers = (await rest.events(run)).filter(
        ({ kind, markerType }) => kind === 'context.marker' && markerType === 'memory',
      );
      expect(markers).toHaveLength(1);
      expect((await inspectThread(rest, run.thread_id)).faults).toEqual([]);
    },
    TIMEOUT,
  );
});

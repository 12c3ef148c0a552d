import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../infra/crash-point.ts';
import { textOf, type Run } from '../fixtures/rest.ts';
import {
  model,
  stack,
  rest,
  effects,
  workerThatDiesAt,
  watched,
  ends,
  TIMEOUT,
  useCrashPoints,
} from './harness/points.ts';

useCrashPoints();

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

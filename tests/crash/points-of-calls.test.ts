import { describe, expect, it } from 'vitest';
import {
  rest,
  effects,
  workerThatDiesAt,
  watched,
  ends,
  signal,
  filesChanged,
  TIMEOUT,
  useCrashPoints,
} from './harness/points.ts';

useCrashPoints();

describe('a worker that dies', () => {
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

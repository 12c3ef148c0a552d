import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../infra/crash-point.ts';
import { textOf } from '../fixtures/rest.ts';
import { model, rest, workerThatDiesAt, ends, isOver, TIMEOUT, useCrashPoints } from './harness/points.ts';

useCrashPoints();

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
});

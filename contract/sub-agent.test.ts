import { describe, expect, it } from 'vitest';
import { delegatingStepOf, speakerOfStep, stepsOf, SUB_AGENT_MAX_STEPS } from './sub-agent.ts';

/** The longest that a run's own steps can get: its limit, and the calls of its last message. */
const HIGHEST_STEP = 110_000;

describe('the steps of a sub-agent', () => {
  it('are its own: no other sub-agent and not the run has them', () => {
    for (const step of [0, 1, 2, 77, 99_999, HIGHEST_STEP]) {
      const { first, last } = stepsOf(step);
      expect([delegatingStepOf(first), delegatingStepOf(last)]).toEqual([step, step]);
      expect(delegatingStepOf(first - 1)).toBe(step === 0 ? null : step - 1);
      expect(delegatingStepOf(last + 1)).toBe(step + 1);
    }
    expect(delegatingStepOf(HIGHEST_STEP)).toBeNull();
    expect(stepsOf(null).last).toBeGreaterThan(HIGHEST_STEP);
  });

  it('are enough, and fit into the database’s integers', () => {
    const { first, last } = stepsOf(HIGHEST_STEP);
    expect(last - first).toBeGreaterThan(10 * SUB_AGENT_MAX_STEPS);
    expect(last).toBeLessThan(2 ** 31);
  });

  it('tell who speaks', () => {
    expect(speakerOfStep('run_1', stepsOf(5).first + 3)).toEqual({
      nativeSessionId: 'run_1.c5',
      nativeParentSessionId: 'run_1',
    });
    expect([speakerOfStep('run_1', 5), speakerOfStep('run_1', null)]).toEqual([null, null]);
  });
});

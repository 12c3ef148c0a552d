import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cancelScenarios } from './cancel-scenarios.ts';
import { EngineWorld } from './engine-world.ts';
import { faultScenarios } from './fault-scenarios.ts';
import { recordOf, recordPath, type Outcome } from './record.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS, type EngineSubject, type ScenarioName } from './subject.ts';
import { turnScenarios } from './turn-scenarios.ts';
import { workerScenarios } from './worker-scenarios.ts';

const STARTS_WITHIN_MS = 120_000;
const SCENARIO_MS = 150_000;

/**
 * What every engine with a loop of its own must do, seen as a user sees it: REST and SSE of a gateway, real worker processes, a real
 * Temporal and a real database. What came of it is the engine's record, from which the table in `docs/engines.md` is made.
 */
export function describeDriver(subject: EngineSubject): void {
  describe(`the engine ${subject.name}`, () => {
    const outcomes = new Map<ScenarioName, Outcome>();
    let world: EngineWorld;

    beforeAll(async () => {
      world = await EngineWorld.start(subject);
    }, STARTS_WITHIN_MS);
    afterAll(async () => {
      await world?.stop();
    }, STARTS_WITHIN_MS);
    afterEach(async () => {
      await world.ensureWorker();
    }, STARTS_WITHIN_MS);

    const scenario: Scenario = (name, body) => {
      const trial = subject.trials[name];
      const play = async (): Promise<Outcome> => {
        if ('cannot' in trial) return trial;
        outcomes.set(name, 'failed');
        await body({ name, world, trial, subject });
        return 'passed';
      };
      it(
        `${subject.name}: ${SCENARIOS[name]}`,
        async ({ skip }) => {
          const outcome = await play();
          outcomes.set(name, outcome);
          skip(outcome !== 'passed', 'cannot' in trial ? trial.cannot : '');
          expect(outcome).toBe('passed');
        },
        SCENARIO_MS,
      );
    };
    turnScenarios(scenario);
    cancelScenarios(scenario);
    faultScenarios(scenario);
    workerScenarios(scenario);

    it('leaves no process of an engine on the machine', async () => {
      await world.noEngineLeft();
      expect(await world.engineProcesses()).toEqual([]);
    });

    it('does what its record says; vitest -u writes it anew', async () => {
      await expect(recordOf(subject, outcomes)).toMatchFileSnapshot(recordPath(subject.name));
    });
  });
}

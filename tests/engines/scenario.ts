import type { EngineWorld } from './engine-world.ts';
import type { EngineSubject, ScenarioName, Trial } from './subject.ts';

export interface Stage {
  readonly name: ScenarioName;
  readonly world: EngineWorld;
  readonly trial: Trial;
  readonly subject: EngineSubject;
}

/** Registers a scenario: a test where the engine can, a skipped one with its reason where it cannot. */
export type Scenario = (name: ScenarioName, body: (stage: Stage) => Promise<void>) => void;

import { join } from 'node:path';
import { SCENARIOS, type Cannot, type EngineSubject, type ScenarioName } from './subject.ts';

export type Outcome = 'passed' | 'failed' | Cannot;

/** What came of an engine's last run of the suite: a file of `records/`. */
export interface EngineRecord {
  readonly engine: string;
  readonly scenarios: Readonly<Partial<Record<ScenarioName, Outcome>>>;
}

export const RECORDS = join(import.meta.dirname, 'records');

export function recordPath(engine: string): string {
  return join(RECORDS, `${engine}.json`);
}

/** The text of an engine's record. A scenario that was not run is not in it. */
export function recordOf({ name }: EngineSubject, outcomes: ReadonlyMap<ScenarioName, Outcome>): string {
  const names = Object.keys(SCENARIOS) as ScenarioName[];
  const scenarios = Object.fromEntries(
    names.flatMap((each) => (outcomes.has(each) ? [[each, outcomes.get(each)]] : [])),
  );
  return `${JSON.stringify({ engine: name, scenarios }, null, 2)}\n`;
}

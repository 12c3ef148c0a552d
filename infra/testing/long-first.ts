import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Engines that are slow to start: one alone at the end would use one core for minutes. */
const LONGEST = /\/engines\/real\/(?:claude|gemini|opencode)/;
/** Files that mostly wait, for a heartbeat or a lease to run out: begun last, they would be waited for alone. */
const LONG = /\/tests\/(?:crash|engines)\/|\/(?:npm-start|silent-engine|delegate|upgrade)\.test\.ts$/;

/** The order of the test files: those that take long first, the rest as vitest has it. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // the sequencer's own method, not an array's
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number =>
      LONGEST.test(moduleId) ? 0 : LONG.test(moduleId) ? 1 : 2;
    return [0, 1, 2].flatMap((wanted) => sorted.filter((file) => rank(file) === wanted));
  }
}

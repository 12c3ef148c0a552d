import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait, for a heartbeat or a lease to run out: begun last, they would be waited for alone. */
const LONG = /\/tests\/(?:crash|engines)\/|\/(?:npm-start|silent-engine|delegate|upgrade)\.test\.ts$/;

/** The order of the test files: those that take long first, the rest as vitest has it. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // the sequencer's own method, not an array's
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { inheritedEnv } from '../config.ts';

type Counts = Record<'passed' | 'failed' | 'skipped' | 'pending', number>;

/**
 * Ends a test run with the line `N passed, N failed`, and says why a skipped test was skipped. Where TIDEMARK_TEST_COUNTS names
 * a file, runs one after the other add up in it, and the last line is of all of them.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count: Counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        const result = test.result();
        count[result.state] += 1;
        if (result.state === 'skipped') this.#say(`skipped: ${test.fullName}: ${result.note ?? 'no reason given'}`);
      }
      // a file that fails before its tests are known
      if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')) count.failed += 1;
    }
    const sum = withEarlier(count);
    const skipped = sum.skipped + sum.pending;
    if (skipped > 0) this.#say(`${String(skipped)} skipped, each for the reason above`);
    this.#say(`${String(sum.passed)} passed, ${String(sum.failed)} failed`);
  }

  #say(line: string): void {
    process.stdout.write(`${line}\n`);
  }
}

/** The counts with those of the runs before; what they add up to is noted for the runs after. */
function withEarlier(count: Counts): Counts {
  const file = inheritedEnv({})['TIDEMARK_TEST_COUNTS'];
  if (file === undefined) return count;
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Counts) : null;
  const sum: Counts = {
    passed: count.passed + (earlier?.passed ?? 0),
    failed: count.failed + (earlier?.failed ?? 0),
    skipped: count.skipped + (earlier?.skipped ?? 0),
    pending: count.pending + (earlier?.pending ?? 0),
  };
  writeFileSync(file, JSON.stringify(sum));
  return sum;
}

import type { Reporter, TestModule } from 'vitest/node';

/** Ends a test run with the line `N passed, N failed`, and says why a skipped test was skipped. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
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
    const skipped = count.skipped + count.pending;
    this.#say(
      `${String(count.passed)} passed, ${String(count.failed)} failed${skipped > 0 ? `, ${String(skipped)} skipped` : ''}`,
    );
  }

  #say(line: string): void {
    process.stdout.write(`${line}\n`);
  }
}

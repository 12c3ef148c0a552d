import { defineConfig } from 'vitest/config';
import { inheritedEnv } from './infra/config.ts';
import { LongFirst } from './infra/testing/long-first.ts';

/** Minutes of random faults are run by `npm run storm` and at the end of `npm run check`, not by every `npm test`. */
const isStorm = inheritedEnv({})['TIDEMARK_CRASH_STORM'] !== undefined;

export default defineConfig({
  test: {
    // tests beside the code share a process, which is started once instead of for each file; those of the product have their own
    projects: [
      { extends: true, test: { name: 'beside', include: ['**/*.test.ts'], exclude: ['tests/**'], isolate: false } },
      { extends: true, test: { name: 'product', include: ['tests/**/*.test.ts'] } },
    ],
    exclude: ['**/node_modules/**', '.tidemark/**', ...(isStorm ? [] : ['tests/crash/storm.test.ts'])],
    globalSetup: ['infra/testing/services.ts'],
    setupFiles: ['infra/testing/watch-stacks.ts'],
    pool: 'forks',
    // on two cores: many files wait for a heartbeat or a lease to run out, and cost nothing meanwhile
    maxWorkers: 5,
    sequence: { sequencer: LongFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // stopping the servers takes long on a loaded machine
    teardownTimeout: 60_000,
    reporters: ['default', './infra/testing/summary-reporter.ts'],
  },
});

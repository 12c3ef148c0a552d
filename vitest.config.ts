import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', '.tidemark/**'],
    globalSetup: ['infra/testing/services.ts'],
    setupFiles: ['infra/testing/watch-stacks.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', './infra/testing/summary-reporter.ts'],
  },
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { inheritedEnv } from '../config.ts';
import { startPostgres } from '../dev/embedded-postgres.ts';
import { freePort } from '../dev/ports.ts';
import { findTemporal } from '../dev/temporal-binary.ts';
import { startTemporal } from '../dev/temporal-dev-server.ts';
import { cachedWorkflowBundle } from '../dev/workflow-bundle.ts';
import { createDatabase } from '../postgres/database-admin.ts';
import { migrate } from '../postgres/migrate.ts';
import { createPool } from '../postgres/pool.ts';
import { NAMESPACES } from './namespace-names.ts';
import { TEMPLATE } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The administrator's URL of the PostgreSQL that all test files share. */
    readonly postgresUrl: string;
    readonly temporalAddress: string;
    readonly workflowBundlePath: string;
    /** A folder of this test run, removed at its end. */
    readonly scratch: string;
  }
}

/**
 * Vitest's global setup: one real PostgreSQL, one real Temporal server and one workflow bundle for a whole test run. Each
 * file takes its own database and namespace.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scratch = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
  const started: (() => Promise<void>)[] = [async () => await rm(scratch, { recursive: true, force: true })];
  const teardown = async (): Promise<void> => {
    for (const stop of started.toReversed()) await stop();
  };
  try {
    const [postgres, temporal, bundle] = await Promise.all([
      startPostgres({
        dir: join(scratch, 'postgres'),
        port: await freePort(),
        logFile: join(scratch, 'postgres.log'),
        // the machine's own crash is the one thing that it would not survive
        settings: { max_connections: 300, fsync: 'off', full_page_writes: 'off' },
      }),
      startTemporalHere(scratch),
      cachedWorkflowBundle(),
    ]);
    started.push(
      async () => await temporal.process.stop(5_000),
      async () => await postgres.process.stop(5_000),
    );
    await createDatabase(postgres.urlOf('postgres'), TEMPLATE);
    const pool = createPool(postgres.urlOf(TEMPLATE), { max: 1, applicationName: 'tidemark-test-setup' });
    await migrate(pool);
    await pool.end();
    project.provide('postgresUrl', postgres.urlOf('postgres'));
    project.provide('temporalAddress', temporal.address);
    project.provide('workflowBundlePath', bundle);
    project.provide('scratch', scratch);
    project.provide('propertySeed', Number(inheritedEnv({})['TIDEMARK_PROPERTY_SEED'] ?? 1));
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}

async function startTemporalHere(scratch: string): ReturnType<typeof startTemporal> {
  return await startTemporal({
    binary: await findTemporal((line) => process.stderr.write(`${line}\n`)),
    port: await freePort(),
    uiPort: null,
    databaseFile: null,
    namespaces: NAMESPACES,
    logFile: join(scratch, 'temporal.log'),
  });
}

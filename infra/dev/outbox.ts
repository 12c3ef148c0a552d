// `npm run outbox -- list | retry <run_id> | retry --all`: the proofs that were given up, of every tenant, and another try for
// them. Speaks to the database of DATABASE_URL, or to that of the `npm start` which runs on this home.
import { ConfigError, loadConfig, withoutPassword, type Config } from '../config.ts';
import { assertReachable } from '../postgres/database-admin.ts';
import { createPool, type Pool } from '../postgres/pool.ts';
import { deadIntents, reviveIntent, type DeadIntent } from '../postgres/sweep.ts';
import { StartError } from './start-error.ts';
import { readUrls } from './urls-file.ts';

const USAGE = 'Usage: npm run outbox -- list | retry <run_id> | retry --all';
const REACHED_WITHIN_MS = 10_000;
const PAGE = 100;

const [command, target, ...rest] = process.argv.slice(2);
try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof StartError || error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const isList = command === 'list' && target === undefined;
  const isRetry = command === 'retry' && target !== undefined && rest.length === 0;
  if (!isList && !isRetry) {
    console.error(USAGE);
    return 2;
  }
  const pool = await openPool(loadConfig());
  try {
    if (isList) return await list(pool);
    return target === '--all' ? await retryAll(pool) : await retryOne(pool, target ?? '');
  } finally {
    await pool.end();
  }
}

async function list(pool: Pool): Promise<number> {
  let count = 0;
  for await (const dead of allDead(pool)) {
    count += 1;
    const attempts = `${String(dead.attempt_count)} attempts`;
    console.log(
      [dead.run_id, dead.thread_id, dead.created_at.toISOString(), attempts, dead.last_error ?? ''].join('\t'),
    );
  }
  if (count === 0) console.log('No run’s proof was given up.');
  return 0;
}

async function retryOne(pool: Pool, runId: string): Promise<number> {
  if (await reviveIntent(pool, runId)) {
    console.log(`${runId} is tried again by a worker at its next sweep, within a minute.`);
    return 0;
  }
  console.error(
    `${runId} is not among the runs whose proof was given up: npm run outbox -- list shows those that are.`,
  );
  return 1;
}

async function retryAll(pool: Pool): Promise<number> {
  let count = 0;
  // one that another operator has revived meanwhile is not counted
  for await (const { run_id: runId } of allDead(pool)) if (await reviveIntent(pool, runId)) count += 1;
  console.log(`${String(count)} ${count === 1 ? 'run is' : 'runs are'} tried again by a worker at its next sweep.`);
  return 0;
}

async function* allDead(pool: Pool): AsyncGenerator<DeadIntent> {
  for (let after: string | null = null; ;) {
    const page: DeadIntent[] = await deadIntents(pool, { tenantId: null, after, limit: PAGE });
    yield* page;
    after = page.at(-1)?.run_id ?? null;
    if (page.length < PAGE) return;
  }
}

async function openPool({ databaseUrl, home }: Config): Promise<Pool> {
  const url = databaseUrl ?? readUrls(home)?.database_url;
  if (url === undefined) {
    throw new StartError(
      'There is no database to look into: set DATABASE_URL, or run `npm start` on this TIDEMARK_HOME.',
    );
  }
  await assertReachable(url, { timeoutMs: REACHED_WITHIN_MS }).catch((error: Error) => {
    throw new StartError(
      `PostgreSQL does not answer at ${withoutPassword(url)} (${error.message}). Start that server or correct DATABASE_URL.`,
    );
  });
  return createPool(url, { max: 1, applicationName: 'tidemark-outbox' });
}

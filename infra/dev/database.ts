import { join } from 'node:path';
import { withoutPassword, type Config } from '../config.ts';
import { assertReachable } from '../postgres/database-admin.ts';
import { migrate } from '../postgres/migrate.ts';
import { createPool } from '../postgres/pool.ts';
import { ensureDatabase, startPostgres } from './embedded-postgres.ts';
import { logFile } from './log-files.ts';
import { choosePort } from './ports.ts';
import { StartError } from './start-error.ts';
import type { Fleet } from './fleet.ts';

const DATABASE = 'tidemark';

/** The database that DATABASE_URL names or, without one, a PostgreSQL of our own under the home; migrated. Gives its URL. */
export async function provideDatabase(config: Config, fleet: Fleet): Promise<string> {
  const url = config.databaseUrl === undefined ? await startOwn(config, fleet) : await checkGiven(config.databaseUrl);
  const pool = createPool(url, { max: 1, applicationName: 'tidemark migrate' });
  try {
    await migrate(pool);
  } finally {
    await pool.end();
  }
  return url;
}

async function startOwn(config: Config, fleet: Fleet): Promise<string> {
  const port = await choosePort(config.dev.postgresPort);
  const options = { dir: join(config.home, 'postgres'), port, logFile: logFile(config.home, 'postgres') };
  let url = '';
  await fleet.keep('postgres', async (signal) => {
    const server = await startPostgres(options, signal);
    url = await ensureDatabase(server, DATABASE);
    return server.process;
  });
  return url;
}

async function checkGiven(url: string): Promise<string> {
  try {
    await assertReachable(url, { timeoutMs: 10_000 });
    return url;
  } catch (error) {
    throw new StartError(
      `DATABASE_URL: no answer from ${withoutPassword(url)} (${reasonOf(error)}). ` +
        'Start that server or correct the URL, or unset it for a PostgreSQL of our own.',
      { cause: error },
    );
  }
}

/** A refused connection to a name with several addresses is an AggregateError without a message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as { message: string; code?: string };
  return message || code || 'unknown reason';
}

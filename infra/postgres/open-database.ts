import { TidemarkError } from '../../contract/errors.ts';
import { withoutPassword } from '../config.ts';
import type { Logger } from '../log.ts';
import { assertReachable } from './database-admin.ts';
import { migrate } from './migrate.ts';
import { createPool, type Pool } from './pool.ts';

/**
 * A process's pool on a database that answers and is migrated.
 *
 * @throws TidemarkError `unavailable`, with the address and what to do, when the database does not answer.
 */
export async function openDatabase(
  url: string,
  { applicationName, log }: { applicationName: string; log: Logger },
): Promise<Pool> {
  try {
    await assertReachable(url, { timeoutMs: 10_000 });
  } catch (cause) {
    // a refused connection to a name with several addresses is an AggregateError without a message
    const { message, code } = cause as { message: string; code?: string };
    throw new TidemarkError(
      'unavailable',
      `PostgreSQL does not answer at ${withoutPassword(url)} (${message || code || 'unknown reason'})`,
      'Start that server or correct DATABASE_URL; `npm start` without it brings one.',
      { cause },
    );
  }
  const pool = createPool(url, { max: 20, applicationName, log });
  await migrate(pool, { log });
  return pool;
}

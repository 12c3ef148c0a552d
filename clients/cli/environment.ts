import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cwd } from 'node:process';

/** What the command line takes from its surroundings. */
export interface Environment {
  readonly url: string;
  readonly apiKey: string | undefined;
  /** Where the user stands: npm moves its scripts to the package's folder and says where they were called. */
  readonly folder: string;
  readonly isColourless: boolean;
}

const DEFAULT_URL = 'http://127.0.0.1:4310';

/**
 * Reads the environment once. The gateway is at `TIDEMARK_URL`, else where `npm start` has written that it is, else where it
 * is by default. A key is taken from `TIDEMARK_API_KEY` alone: an argument would be in every list of processes.
 */
export function readEnvironment(): Environment {
  return {
    url: given('TIDEMARK_URL') ?? startedUrl(given('TIDEMARK_HOME') ?? '.tidemark') ?? DEFAULT_URL,
    apiKey: given('TIDEMARK_API_KEY'),
    folder: resolve(given('INIT_CWD') ?? cwd()),
    isColourless: given('NO_COLOR') !== undefined,
  };
}

function given(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}

function startedUrl(home: string): string | undefined {
  try {
    const { gateway } = JSON.parse(readFileSync(join(home, 'urls.json'), 'utf8')) as { gateway?: unknown };
    return typeof gateway === 'string' ? gateway : undefined;
  } catch {
    return undefined;
  }
}

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessName } from './process-records.ts';

/** What `npm start` has started, for other programs to read. The database URL holds the password of the local server. */
export type Urls = {
  readonly gateway: string;
  readonly temporal_ui: string | null;
  readonly temporal_address: string;
  readonly database_url: string;
  readonly pids: Partial<Record<ProcessName, number>>;
};

export const urlsFile = (home: string): string => join(home, 'urls.json');

/** Replaces the file at once: a reader sees the old one or the new one, whole. */
export function writeUrls(home: string, urls: Urls): void {
  const file = urlsFile(home);
  writeFileSync(`${file}.new`, `${JSON.stringify(urls, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function readUrls(home: string): Urls | null {
  try {
    return JSON.parse(readFileSync(urlsFile(home), 'utf8')) as Urls;
  } catch {
    return null;
  }
}

export function removeUrls(home: string): void {
  rmSync(urlsFile(home), { force: true });
}

import { mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const KEEP_BYTES = 10 * 1024 * 1024;

/** The log of one part of this home; one that has grown over 10 MiB is set aside first. */
export function logFile(home: string, name: string): string {
  const dir = join(home, 'logs');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, `${name}.log`);
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size > KEEP_BYTES) renameSync(file, `${file}.old`);
  return file;
}

export function lastLines(file: string, count: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '(nothing was logged)';
  }
}

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStamp } from '../process-stamp.mjs';

export type ProcessName = 'gateway' | 'worker' | 'temporal' | 'postgres';

type ProcessRecord = { readonly name: ProcessName; readonly pid: number; readonly stamp: string };

const STOP_SIGNAL: Readonly<Record<ProcessName, NodeJS.Signals>> = {
  gateway: 'SIGTERM',
  worker: 'SIGTERM',
  temporal: 'SIGTERM',
  postgres: 'SIGINT',
};
const STOP_WITHIN_MS = 5_000;

/**
 * What runs on a home, written down as it is started, so that the next start finds what an unclean end has left.
 *
 * **Contract:** only a process that started when the record says is ever signalled; one that was given its id later is not.
 */
export class ProcessRecords {
  readonly #file: string;
  #records: readonly ProcessRecord[];

  constructor(home: string) {
    this.#file = join(home, 'processes.json');
    this.#records = readRecords(this.#file);
  }

  note(name: ProcessName, pid: number): void {
    const stamp = processStamp(pid);
    const others = this.#records.filter((record) => record.name !== name);
    this.#write(stamp === null ? others : [...others, { name, pid, stamp }]);
  }

  /** The process ids of what runs now. */
  pids(): Partial<Record<ProcessName, number>> {
    return Object.fromEntries(this.#records.map(({ name, pid }) => [name, pid]));
  }

  /** Stops what is left of an earlier start, those that need the servers first, and gives their names. */
  async stopLeftovers(): Promise<ProcessName[]> {
    const left = this.#records.filter(isRunning);
    await Promise.all(left.filter((record) => !isServer(record)).map(stop));
    await Promise.all(left.filter(isServer).map(stop));
    this.clear();
    return left.map(({ name }) => name);
  }

  clear(): void {
    this.#records = [];
    rmSync(this.#file, { force: true });
  }

  #write(records: readonly ProcessRecord[]): void {
    this.#records = records;
    writeFileSync(`${this.#file}.new`, `${JSON.stringify(records, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function readRecords(file: string): ProcessRecord[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessRecord[];
  } catch {
    return [];
  }
}

function isServer({ name }: ProcessRecord): boolean {
  return name === 'temporal' || name === 'postgres';
}

function isRunning({ pid, stamp }: ProcessRecord): boolean {
  return processStamp(pid) === stamp;
}

async function stop(record: ProcessRecord): Promise<void> {
  for (const signal of [STOP_SIGNAL[record.name], 'SIGKILL'] as const) {
    if (!isRunning(record)) return;
    process.kill(record.pid, signal);
    for (const giveUpAt = Date.now() + STOP_WITHIN_MS; isRunning(record) && Date.now() < giveUpAt;) await sleep(25);
  }
}

import type { DetachedProcess } from './detached-process.ts';
import { ProcessRecords, type ProcessName } from './process-records.ts';
import { supervise, type Supervised } from './supervise.ts';

/** A worker is given this long to hand its runs over. */
const STOP_WITHIN_MS = 15_000;
/** What uses a server goes before it. */
const STOP_ORDER: readonly (readonly ProcessName[])[] = [['gateway', 'worker'], ['temporal'], ['postgres']];

/** The processes of one `npm start`: started, kept running, stopped in order. */
export class Fleet {
  readonly say: (line: string) => void;
  /** Aborted when the start is given up: on request, or because a part of it failed. */
  readonly signal: AbortSignal;
  /** Called with every process that is started, the first time and again. */
  onStarted: () => void = () => {};
  readonly #records: ProcessRecords;
  readonly #running = new Map<ProcessName, Supervised>();
  readonly #failed = new AbortController();

  constructor(home: string, say: (line: string) => void, signal: AbortSignal) {
    this.say = say;
    this.signal = AbortSignal.any([signal, this.#failed.signal]);
    this.#records = new ProcessRecords(home);
  }

  /** Stops what an earlier start on this home has left running. */
  async takeOver(): Promise<void> {
    const left = await this.#records.stopLeftovers();
    if (left.length > 0) this.say(`Stopped what an earlier start had left running: ${left.join(', ')}.`);
  }

  /** Starts a process and keeps it running until `stop()`. Rejects if the first start fails. */
  async keep(name: ProcessName, start: (signal: AbortSignal) => Promise<DetachedProcess>): Promise<void> {
    const startNoted = async (signal: AbortSignal): Promise<DetachedProcess> => {
      const started = await start(signal);
      this.#records.note(name, started.pid);
      this.onStarted();
      return started;
    };
    this.#running.set(name, await supervise(name, startNoted, this));
  }

  /** Waits for all `parts`; when one fails the others are given up, and its error is thrown when they have ended. */
  async together(parts: readonly Promise<unknown>[]): Promise<void> {
    const errors: unknown[] = [];
    const noteFailure = (error: unknown): void => {
      errors.push(error);
      this.#failed.abort();
    };
    await Promise.all(parts.map((part) => part.catch(noteFailure)));
    if (errors.length > 0) throw errors[0];
  }

  pids(): Partial<Record<ProcessName, number>> {
    return this.#records.pids();
  }

  async stop(): Promise<void> {
    for (const names of STOP_ORDER) {
      await Promise.all(names.map(async (name) => this.#running.get(name)?.stop(STOP_WITHIN_MS)));
    }
    this.#records.clear();
  }
}

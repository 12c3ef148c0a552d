import type { Logger } from '../infra/log.ts';
import type { Pool } from '../infra/postgres/pool.ts';
import { cancelRequested } from '../infra/postgres/command.ts';

/** How often the runs in hand are looked up, in case a wake-up was lost. */
const RECHECK_MS = 2_000;

/**
 * The runs that this process drives, and their way to be stopped: a wake-up by NOTIFY reaches the driver in milliseconds,
 * and a look at the rows every two seconds covers a lost one (design §3, "Cancel").
 */
export class RunWatch {
  readonly #pool: Pool;
  readonly #log: Logger;
  readonly #watched = new Map<string, Set<AbortController>>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(pool: Pool, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.recheck([...this.#watched.keys()]), RECHECK_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** A signal that aborts when the run is asked to stop. Release it when the work is over. */
  watch(runId: string): { signal: AbortSignal; release: () => void } {
    const controller = new AbortController();
    const controllers = this.#watched.get(runId) ?? new Set();
    controllers.add(controller);
    this.#watched.set(runId, controllers);
    const release = (): void => {
      controllers.delete(controller);
      if (controllers.size === 0) this.#watched.delete(runId);
    };
    return { signal: controller.signal, release };
  }

  /** Resolves when the rows of a run may have changed: at a wake-up for it, at the next look at all, or when `signal` aborts. */
  async nextLook(runId: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const waiting = this.#waiting.get(runId) ?? new Set();
    this.#waiting.set(runId, waiting);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        waiting.delete(done);
        if (waiting.size === 0 && this.#waiting.get(runId) === waiting) this.#waiting.delete(runId);
        signal.removeEventListener('abort', done);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Looks at some runs now; those that this process does not drive are left out. */
  async recheck(runIds: readonly string[]): Promise<void> {
    const mine = runIds.filter((runId) => this.#watched.has(runId));
    if (mine.length === 0) return;
    for (const runId of mine) for (const wake of Array.from(this.#waiting.get(runId) ?? [])) wake();
    try {
      for (const runId of await cancelRequested(this.#pool, mine)) {
        for (const controller of this.#watched.get(runId) ?? []) controller.abort(new Error('the run was cancelled'));
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'cancel requests not read; they are read again soon');
    }
  }
}

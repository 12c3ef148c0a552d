import type { Logger } from '../infra/log.ts';

interface PeriodicOptions {
  readonly everyMs: number;
  /** Does what is due; it looks at the signal between two pieces of work. */
  readonly work: (stopped: AbortSignal) => Promise<void>;
  /** What is logged when it fails. */
  readonly failure: string;
  readonly log: Logger;
}

/** Work that a worker process does again and again, the first time at once. */
export class Periodic {
  readonly #options: PeriodicOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: PeriodicOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#once().finally(() => {
      if (this.#stopped.signal.aborted) return;
      this.#timer = setTimeout(() => this.start(), this.#options.everyMs);
    });
  }

  /** Resolves when what is being done is done. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #once(): Promise<void> {
    const { work, log, failure } = this.#options;
    try {
      await work(this.#stopped.signal);
    } catch (error) {
      log.warn({ err: error }, failure);
    }
  }
}

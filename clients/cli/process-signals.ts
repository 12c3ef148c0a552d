/**
 * What ends the program from outside: SIGTERM and SIGHUP abort `signal`, and so does Ctrl-C where nobody has taken it over.
 *
 * **Contract:** a signal that comes again ends the process at once.
 */
export class ProcessSignals {
  readonly #ending = new AbortController();
  #ctrlC: (() => void) | null = null;

  constructor() {
    process.on('SIGINT', this.#onInterrupt);
    process.on('SIGTERM', this.#onEnd);
    process.on('SIGHUP', this.#onEnd);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  readonly onCtrlC = (handler: () => void): (() => void) => {
    this.#ctrlC = handler;
    return () => {
      if (this.#ctrlC === handler) this.#ctrlC = null;
    };
  };

  stop(): void {
    process.off('SIGINT', this.#onInterrupt);
    process.off('SIGTERM', this.#onEnd);
    process.off('SIGHUP', this.#onEnd);
  }

  readonly #onInterrupt = (): void => {
    if (this.#ctrlC === null) this.#onEnd();
    else this.#ctrlC();
  };

  readonly #onEnd = (): void => {
    if (this.#ending.signal.aborted) process.exit(1);
    this.#ending.abort();
  };
}

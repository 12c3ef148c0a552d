import { setTimeout as sleep } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';

export interface EventStreamParts {
  readonly name: string;
  /** The server's events from now on, each as its text; the first says that the connection stands. */
  connect(signal: AbortSignal): AsyncIterable<string>;
  /** Takes an event; more is read when this resolves. */
  take(event: string): Promise<void>;
  /** The stream broke off and was taken up again: what was said meanwhile was not heard. Before the next event is taken. */
  missed(): Promise<void>;
  /** Resolves when the server has ended, with the fault that this is. */
  readonly gone: Promise<TidemarkError>;
  /** How long a stream that broke off is not taken up again, each time longer; after the last it is given up. */
  readonly pausesMs?: readonly number[];
}

const PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200];

/**
 * A server's events, taken one after another.
 *
 * **Contract:** a stream that breaks off while the server lives is taken up again. `ended` tells why it is over for good: the
 * server has ended, it does not answer any more, or an event was not taken. What had come before is taken then.
 */
export class EventStream {
  readonly #parts: EventStreamParts;
  readonly #closed = new AbortController();
  readonly #connected = Promise.withResolvers<void>();
  /** Resolves when the first connection stands. */
  readonly connected: Promise<void> = this.#connected.promise;
  /** Never rejects. */
  readonly ended: Promise<unknown>;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.ended = this.#run();
  }

  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<unknown> {
    const { name, gone, pausesMs = PAUSES_MS } = this.#parts;
    let failures = 0;
    for (let connections = 0; ;) {
      const heard = await this.#read(connections > 0);
      if (heard.fault !== null) return heard.fault;
      if (heard.events > 0) {
        connections += 1;
        failures = 0;
      }
      const pauseMs = pausesMs[failures];
      failures += 1;
      const fault = await Promise.race([gone, sleep(pauseMs ?? 0), aborted(this.#closed.signal)]);
      if (fault instanceof TidemarkError) return fault;
      if (this.#closed.signal.aborted || pauseMs === undefined) return brokenOff(name);
    }
  }

  /** One connection to its end. A fault is one of ours: that of the connection is no more than its end. */
  async #read(isAgain: boolean): Promise<{ events: number; fault: unknown }> {
    let events = 0;
    const taken = async (event: string): Promise<unknown> => {
      try {
        if (events === 0 && isAgain) await this.#parts.missed();
        await this.#parts.take(event);
        return null;
      } catch (error) {
        return error;
      }
    };
    try {
      for await (const event of this.#parts.connect(this.#closed.signal)) {
        const fault = await taken(event);
        if (fault !== null) return { events, fault };
        events += 1;
        this.#connected.resolve();
      }
    } catch (error) {
      if (error instanceof TidemarkError) return { events, fault: error };
    }
    return { events, fault: null };
  }
}

function brokenOff(name: string): TidemarkError {
  return new TidemarkError(
    'engine_lost',
    `the events of ${name} broke off, and its server lets nobody in any more`,
    "Send the message again; the worker's log has what the engine wrote to standard error.",
  );
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

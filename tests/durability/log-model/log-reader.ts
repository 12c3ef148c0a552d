import type { Pool } from '../../../infra/postgres/pool.ts';
import type { DeliveryRow } from '../../../infra/postgres/delivery.ts';
import { deliveriesAfter } from '../../fixtures/threads.ts';

/** A reader that asks for what is behind its cursor, again and again, as fast as it can: what it saw, it never asks for twice. */
export class LogReader {
  readonly rows: DeliveryRow[] = [];
  readonly threadId: string;
  readonly #pool: Pool;
  readonly #stopping = new AbortController();
  readonly #reading: Promise<void>;

  constructor(pool: Pool, threadId: string) {
    this.#pool = pool;
    this.threadId = threadId;
    this.#reading = this.#read();
    this.#reading.catch(() => undefined); // told by `stop`
  }

  /** Reads what is there yet, and stops. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reading;
  }

  async #read(): Promise<void> {
    for (let last = false; ;) {
      const page = await deliveriesAfter(this.#pool, this.threadId, this.rows.at(-1)?.delivery_seq ?? 0, 50);
      this.rows.push(...page);
      if (last && page.length === 0) return;
      last = this.#stopping.signal.aborted;
    }
  }
}

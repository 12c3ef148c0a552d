import { dueIntents } from '../infra/postgres/outbox.ts';
import { createCanonicalize } from './canonicalize.ts';
import type { Dependencies } from './dependencies.ts';

const EVERY_MS = 5_000;
const BATCH = 10;

/**
 * Takes over canonicalization intents that no workflow sees to any more: left pending past their time, or under a lease that
 * ran out (design, invariant 5). Every worker has one; the claim keeps them apart.
 */
export class IntentSweep {
  readonly #deps: Dependencies;
  readonly #canonicalize: ReturnType<typeof createCanonicalize>;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#canonicalize = createCanonicalize(deps);
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#sweep().finally(() => {
        this.start();
      });
    }, EVERY_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #sweep(): Promise<void> {
    try {
      for (const runId of await dueIntents(this.#deps.pool, BATCH)) {
        this.#deps.log.warn({ runId }, 'intent taken over');
        // its failure is logged and counted where it is handled; the next sweep finds it again
        await this.#canonicalize(runId).catch(() => false);
      }
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'intents not read; they are read again');
    }
  }
}

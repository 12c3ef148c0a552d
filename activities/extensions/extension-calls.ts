import type { ExtensionAnswer } from '../../contract/extension-call.ts';
import {
  answerExtensionCall,
  claimExtensionCalls,
  endLostExtensionCalls,
  extendExtensionCalls,
  removeOldExtensionCalls,
  type ExtensionCallRow,
} from '../../infra/postgres/extension-call.ts';
import { tellCatalog } from '../../infra/postgres/worker-catalog.ts';
import { answerExtensionCallOf } from './answer-extension-call.ts';
import { catalogOf } from '../engines/builtin/extensions/catalog.ts';
import type { Dependencies } from '../dependencies.ts';
import { Periodic } from '../periodic.ts';

/** So many calls are worked on at a time. */
const SLOTS = 16;
const LEASE_SECONDS = 20;
/** A call that no worker has taken after so long is answered as such. */
const UNTAKEN_SECONDS = 15;
const LOOK_EVERY_MS = 1_000;
const TELL_EVERY_MS = 10_000;

const LOST: ExtensionAnswer = {
  ok: false,
  code: 'worker_lost',
  message: 'the worker that carried this out was lost, and so was what came of it',
  remedy: 'See whether it took effect, then ask again.',
};
const UNTAKEN: ExtensionAnswer = {
  ok: false,
  code: 'unavailable',
  message: 'no worker took this up',
  remedy: 'Start a worker, or look why those that there are do not answer; then ask again.',
};

/**
 * A worker's part in what clients ask of the extensions: calls are taken from Postgres, carried out here, and answered there.
 *
 * **Contract:** a call is carried out at most once. One whose worker died is answered as lost by another; one that nobody takes is
 * answered too, so a client always learns what became of it.
 */
export class ExtensionCalls {
  readonly #deps: Dependencies;
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #periodic: readonly Periodic[];

  constructor(deps: Dependencies, workerId: string) {
    this.#deps = deps;
    const { pool, log, extensions } = deps;
    this.#periodic = [
      new Periodic({
        everyMs: LOOK_EVERY_MS,
        work: () => this.#look(),
        failure: 'extension calls not read; they are read again',
        log,
      }),
      new Periodic({
        everyMs: TELL_EVERY_MS,
        work: async () => {
          await tellCatalog(pool, workerId, catalogOf(extensions));
          await removeOldExtensionCalls(pool);
        },
        failure: 'the catalog was not told; it is told again',
        log,
      }),
    ];
  }

  start(): void {
    for (const periodic of this.#periodic) periodic.start();
  }

  async #look(): Promise<void> {
    const { pool } = this.#deps;
    if (this.#stopping.signal.aborted) return;
    if (this.#running.size > 0) await extendExtensionCalls(pool, [...this.#running.keys()], LEASE_SECONDS);
    await endLostExtensionCalls(pool, { lost: LOST, untaken: UNTAKEN, untakenSeconds: UNTAKEN_SECONDS });
    await this.#take();
  }

  /** A call waits: taken at once; a failure is left to the next look. */
  hasNews(): void {
    this.#take().catch((error: unknown) =>
      this.#deps.log.warn({ err: error }, 'extension calls not taken; they are looked for again'),
    );
  }

  async #take(): Promise<void> {
    const limit = SLOTS - this.#running.size;
    if (limit <= 0 || this.#stopping.signal.aborted) return;
    for (const call of await claimExtensionCalls(this.#deps.pool, { limit, leaseSeconds: LEASE_SECONDS })) {
      this.#running.set(
        call.call_id,
        this.#carryOut(call).finally(() => this.#running.delete(call.call_id)),
      );
    }
  }

  /** What is being done is told to stop, and answered as what it came to. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the worker is going away'));
    await Promise.all(this.#periodic.map((periodic) => periodic.stop()));
    await Promise.all(this.#running.values());
  }

  async #carryOut(call: ExtensionCallRow): Promise<void> {
    const { pool, log } = this.#deps;
    try {
      const answer = await answerExtensionCallOf(this.#deps, call, this.#stopping.signal);
      await answerExtensionCall(pool, call.call_id, answer);
    } catch (error) {
      // its lease runs out, and it is answered as lost
      log.error({ err: error, callId: call.call_id }, 'extension call not answered');
    }
  }
}

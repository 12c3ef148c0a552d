import type { Client } from '@temporalio/client';
import type pg from 'pg';
import type { Logger } from './log.ts';
import {
  leaseCommands,
  leaseWakes,
  markDispatched,
  markWoken,
  noteDispatchError,
  type CommandRow,
} from './postgres/command.ts';
import { readRun } from './postgres/run.ts';
import { cancelRunWorkflow, startRunWorkflow, wakeRunWorkflow } from './temporal/run-workflow.ts';

const EVERY_MS = 1_000;
const BATCH = 20;

/**
 * Carries what Postgres says to Temporal when the one who committed it could not: runs to start, runs to cancel, runs whose
 * interrupt was answered (design §3.1). Every gateway and every worker has one.
 *
 * **Contract:** leases with `SKIP LOCKED`, so any number of them share the work; everything it sends may be sent twice. A server
 * that is away is tried again, later each time.
 */
export class Dispatcher {
  readonly #deps: { pool: pg.Pool; temporal: Client; log: Logger };
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: { pool: pg.Pool; temporal: Client; log: Logger }) {
    this.#deps = deps;
  }

  start(): void {
    const tick = async (): Promise<void> => {
      try {
        await this.dispatchDue();
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'dispatcher could not read its work; it tries again');
      }
      if (!this.#stopped) this.#timer = setTimeout(next, EVERY_MS);
    };
    const next = (): void => {
      this.#running = tick();
    };
    next();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async dispatchDue(): Promise<void> {
    const { pool, log, temporal } = this.#deps;
    for (const command of await leaseCommands(pool, BATCH)) {
      try {
        await dispatchCommand(this.#deps, command);
      } catch (error) {
        log.warn(
          { err: error, runId: command.run_id, kind: command.kind },
          'command not dispatched; its lease brings it up again',
        );
        await noteDispatchError(pool, command.command_id, String(error));
      }
    }
    for (const { interrupt_id: interruptId, run_id: runId } of await leaseWakes(pool, BATCH)) {
      try {
        await wakeRunWorkflow(temporal, runId);
        await markWoken(pool, interruptId);
      } catch (error) {
        log.warn({ err: error, runId }, 'run not woken; it is tried again');
      }
    }
  }
}

/** Sends one command to Temporal and marks it dispatched. */
export async function dispatchCommand(
  { pool, temporal }: { pool: pg.Pool; temporal: Client },
  { run_id: runId, kind }: Pick<CommandRow, 'run_id' | 'kind'>,
): Promise<void> {
  if (kind === 'run.create') await startRunWorkflow(temporal, await readRun(pool, runId));
  else if ((await cancelRunWorkflow(temporal, runId)) === 'missing') {
    // not started yet: its start is still due and finds the cancel request in the run's row
    const run = await readRun(pool, runId);
    if (run.settled_at === null) return;
  }
  await markDispatched(pool, runId, kind);
}

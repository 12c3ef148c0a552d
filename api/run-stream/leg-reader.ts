import { isTerminal, type LifecycleEvent } from '../../contract/lifecycle.ts';
import { initialProjection, legRunId, project, type ProjectionState } from '../../contract/lifecycle-projection.ts';
import { correlationIdOf } from '../../contract/lifecycle-cut.ts';
import type { StreamRefusal } from '../../contract/lifecycle-projection-state.ts';
import type { DeliveryRow } from '../../infra/postgres/delivery.ts';
import { deliveredEvent, runLogPage } from '../../infra/postgres/run-log.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import type { Queryable } from '../../infra/postgres/transaction.ts';
import type { RefusedEvent } from '../refusal-log.ts';

/** A lifecycle event of a leg, and the delivery that it was projected from. */
export interface ProjectedEvent {
  readonly event: LifecycleEvent;
  readonly deliverySeq: number;
}

/**
 * A run's log read as lifecycle events, one leg of it or (`leg` null) all of them. The projection runs the lifecycle's machine
 * over every event that it says, and ends the streams at one that it refuses.
 */
export class LegReader {
  /** The projection as far as it was read. */
  state: ProjectionState;
  /** The leg has said its terminal. */
  isOver = false;
  /** What the boundary refused: the run's streams ended there. */
  refused: RefusedEvent | null = null;
  readonly #legId: string | null;
  readonly #leg: number | null;

  constructor(run: RunRow, leg: number | null) {
    this.state = initialProjection({ runId: run.run_id, threadId: run.thread_id, engine: run.engine });
    this.#legId = leg === null ? null : legRunId(run.run_id, leg);
    this.#leg = leg;
  }

  take(rows: readonly DeliveryRow[]): ProjectedEvent[] {
    const taken: ProjectedEvent[] = [];
    for (const row of rows) {
      if (row.record !== 'event') continue;
      const { state, events } = project(this.state, deliveredEvent(row));
      this.state = state;
      if (state.refusal !== null && this.refused === null) this.#end(state.refusal, row);
      for (const event of events) {
        if (this.#legId !== null && event.run_id !== this.#legId) continue;
        taken.push({ event, deliverySeq: row.delivery_seq });
        if (this.#legId !== null && isTerminal(event)) this.isOver = true;
      }
      if (this.isOver) break;
    }
    return taken;
  }

  #end(refusal: StreamRefusal, { run_id: runId, delivery_seq: deliverySeq }: DeliveryRow): void {
    this.refused = { ...refusal, runId, deliverySeq, correlationId: correlationIdOf(runId, deliverySeq) };
    this.isOver = true;
  }

  /** Nothing can come of the leg any more: a later one has begun, or the run ended before it. */
  get isPast(): boolean {
    const { leg, phase } = this.state;
    return this.#leg !== null && (leg > this.#leg || (phase === 'ended' && leg < this.#leg));
  }
}

const PAGE_ROWS = 500;

/** Reads what is stored of a run, page by page; `each` is given the events of each page. */
export async function readStored(
  db: Queryable,
  run: RunRow,
  reader: LegReader,
  each: (events: readonly ProjectedEvent[]) => void = () => undefined,
): Promise<void> {
  for (let after = 0; ;) {
    const rows = await runLogPage(db, run.run_id, after, PAGE_ROWS);
    each(reader.take(rows));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    after = last.delivery_seq;
  }
}

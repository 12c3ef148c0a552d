import type { ServerResponse } from 'node:http';
import type { LegContext, LegEncoder } from '../../contract/encoders/lifecycle-encoding.ts';
import { sseCursor } from '../../contract/encoders/sse.ts';
import type { LifecycleEvent } from '../../contract/lifecycle.ts';
import { initialProjection, legRunId, project, type ProjectionState } from '../../contract/lifecycle-projection.ts';
import type { DeliveryRow } from '../../infra/postgres/delivery.ts';
import { deliveredEvent } from '../../infra/postgres/run-log.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import type { Hub } from '../hub.ts';
import { followRun } from './follow-run.ts';

const TERMINALS: ReadonlySet<string> = new Set(['run.finished', 'run.interrupted', 'run.cancelled', 'run.error']);

/** A lifecycle event, and the delivery that it was projected from. */
export interface ProjectedEvent {
  readonly event: LifecycleEvent;
  readonly deliverySeq: number;
}

/** Projects a run's rows; `take` gives the events of one leg and says when that leg is over. */
export class LegReader {
  #state: ProjectionState;
  readonly #runId: string;
  readonly #leg: number;
  isOver = false;

  constructor(run: RunRow, leg: number) {
    this.#state = initialProjection({ runId: run.run_id, threadId: run.thread_id, engine: run.engine });
    this.#runId = legRunId(run.run_id, leg);
    this.#leg = leg;
  }

  take(rows: readonly DeliveryRow[]): ProjectedEvent[] {
    const taken: ProjectedEvent[] = [];
    for (const row of rows) {
      if (row.record !== 'event' || this.isOver) continue;
      const { state, events } = project(this.#state, deliveredEvent(row));
      this.#state = state;
      for (const event of events) {
        if (event.run_id !== this.#runId) continue;
        taken.push({ event, deliverySeq: row.delivery_seq });
        if (TERMINALS.has(event.type)) this.isOver = true;
      }
    }
    return taken;
  }

  /** The leg that has begun last. */
  get begun(): number {
    return this.#state.leg;
  }

  /** Nothing more can come of the leg. */
  get isBehind(): boolean {
    return this.#state.leg > this.#leg || (this.#state.phase === 'ended' && this.#state.leg < this.#leg);
  }
}

export interface LegStreamRequest<State> {
  readonly run: RunRow;
  readonly leg: number;
  /** Frames of deliveries up to here are left out: the client has them. */
  readonly after: number;
  readonly encoder: LegEncoder<State>;
  readonly context: LegContext;
  /** Says the cursor behind the frames of each delivery (encodings whose frames are not to carry ids say none). */
  readonly saysCursor: boolean;
}

/**
 * Streams one leg of a run in an encoding of the lifecycle: from its beginning, live, to its terminal, and ends there.
 *
 * **Contract:** a function of the log: live, on replay and after a restart the same bytes.
 */
export async function streamLeg<State>(hub: Hub, res: ServerResponse, request: LegStreamRequest<State>): Promise<void> {
  const { run, leg, after, encoder, context, saysCursor } = request;
  const stream = hub.open(res, run.thread_id, 'comment');
  if (!res.headersSent) stream.openSse();
  const reader = new LegReader(run, leg);
  let state = encoder.initial;
  try {
    for await (const rows of followRun(hub, run, stream)) {
      let text = '';
      let cursor = 0;
      for (const { event, deliverySeq } of reader.take(rows)) {
        const encoded = encoder.encode(state, event, { ...context, deliverySeq });
        state = encoded.state;
        if (deliverySeq <= after || encoded.frames.length === 0) continue;
        if (saysCursor && cursor !== 0 && cursor !== deliverySeq) text += sseCursor(cursor);
        text += encoded.frames.join('');
        cursor = deliverySeq;
      }
      if (saysCursor && cursor !== 0) text += sseCursor(cursor);
      if (text !== '') stream.write(text);
      if (!(await stream.drained())) return;
      if (reader.isOver || reader.isBehind) break;
    }
    stream.end();
  } catch (error) {
    if (stream.isOpen) hub.abandon(stream, run.thread_id, error);
  }
}

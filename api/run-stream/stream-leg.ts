import type { ServerResponse } from 'node:http';
import type { LegContext, LegEncoder } from '../../contract/encoders/lifecycle-encoding.ts';
import { sseCursor } from '../../contract/encoders/sse.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import type { Hub } from '../hub.ts';
import { followRun } from './follow-run.ts';
import { LegReader, type ProjectedEvent } from './leg-reader.ts';

export interface LegStream {
  readonly run: RunRow;
  readonly leg: number;
  /** Turns the leg's next events into text, in order. */
  readonly encode: (events: readonly ProjectedEvent[]) => string;
}

/**
 * Streams one leg of a run: from its beginning, live, to its terminal, and ends there.
 *
 * **Contract:** a function of the log: live, on replay and after a restart the same bytes. The stream of a leg that will not come
 * ends without an event.
 */
export async function streamLeg(hub: Hub, res: ServerResponse, { run, leg, encode }: LegStream): Promise<void> {
  const stream = hub.open(res, run.thread_id, 'comment');
  if (!res.headersSent) stream.openSse();
  const reader = new LegReader(run, leg);
  try {
    for await (const rows of followRun(hub, run, stream)) {
      const text = encode(reader.take(rows));
      if (reader.refused !== null) hub.refusals.note(reader.refused);
      if (text !== '') stream.write(text);
      if (!(await stream.drained())) return;
      if (reader.isOver || reader.isPast) break;
    }
    stream.end();
  } catch (error) {
    if (stream.isOpen) hub.abandon(stream, run.thread_id, error);
  }
}

/**
 * An encoder as `streamLeg` takes it. Frames of deliveries up to `after` are left out: the client has them. `saysCursor` puts
 * the cursor behind the frames of each delivery, in a block of its own.
 */
export function plainEncoding<State>(
  encoder: LegEncoder<State>,
  { context, after, saysCursor }: { context: LegContext; after: number; saysCursor: boolean },
): LegStream['encode'] {
  let { initial: state } = encoder;
  return (events) => {
    let text = '';
    let cursor = 0;
    for (const { event, deliverySeq } of events) {
      const encoded = encoder.encode(state, event, { ...context, deliverySeq });
      state = encoded.state;
      if (deliverySeq <= after || encoded.frames.length === 0) continue;
      if (saysCursor && cursor !== 0 && cursor !== deliverySeq) text += sseCursor(cursor);
      text += encoded.frames.join('');
      cursor = deliverySeq;
    }
    return saysCursor && cursor !== 0 ? text + sseCursor(cursor) : text;
  };
}

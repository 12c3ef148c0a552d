import type { ServerResponse } from 'node:http';
import { agUiLegacyEncoder } from '../../contract/encoders/ag-ui-legacy.ts';
import { encodeDelivery } from '../../contract/encoders/canonical.ts';
import { customEncoder } from '../../contract/encoders/custom.ts';
import { lifecycleEncoder } from '../../contract/encoders/lifecycle.ts';
import type { LegContext } from '../../contract/encoders/lifecycle-encoding.ts';
import type { Encoding } from '../../contract/encodings.ts';
import { TidemarkError } from '../../contract/errors.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import { assertEventsRetained } from '../cursor.ts';
import type { Hub } from '../hub.ts';
import { agUiFromCursor } from './ag-ui-encoding.ts';
import { conversationBefore } from './conversation.ts';
import { followRun } from './follow-run.ts';
import { LegReader, readStored } from './leg-reader.ts';
import { plainEncoding, streamLeg } from './stream-leg.ts';

export interface RunStreamRequest {
  readonly run: RunRow;
  readonly encoding: Encoding;
  /** Null: the leg that has begun last. */
  readonly leg: number | null;
  readonly after: number;
}

/** Streams a run in an encoding, from a cursor, until the leg (for `canonical` the whole run) is over (design §7). */
export async function streamRun(hub: Hub, res: ServerResponse, request: RunStreamRequest): Promise<void> {
  const { run, encoding, after } = request;
  assertEventsRetained(run);
  if (encoding === 'canonical') return await streamCanonical(hub, res, run, after);
  const leg = await legOf(hub, run, request.leg);
  const context: LegContext = { agentName: run.engine };
  await streamLeg(hub, res, { run, leg, encode: await encodingOf(hub, { run, leg, encoding, after, context }) });
}

async function encodingOf(
  hub: Hub,
  leg: { run: RunRow; leg: number; encoding: Exclude<Encoding, 'canonical'>; after: number; context: LegContext },
): Promise<(events: Parameters<ReturnType<typeof plainEncoding>>[0]) => string> {
  const { run, encoding, after, context } = leg;
  switch (encoding) {
    case 'lifecycle':
      return plainEncoding(lifecycleEncoder, { context, after, saysCursor: true });
    case 'custom':
      return plainEncoding(customEncoder, { context, after, saysCursor: false });
    case 'ag-ui-legacy':
      return plainEncoding(agUiLegacyEncoder, { context, after, saysCursor: false });
    case 'ag-ui':
      return agUiFromCursor(await conversationBefore(hub.replayDb, run, leg.leg, context), context, after);
  }
}

/** The leg that is meant. @throws TidemarkError `leg_not_found`: one that has not begun, unless it is the next of a live run. */
async function legOf(hub: Hub, run: RunRow, wanted: number | null): Promise<number> {
  const reader = new LegReader(run, null);
  await readStored(hub.replayDb, run, reader);
  const { leg, phase } = reader.state;
  const begun = Math.max(leg, 1);
  if (wanted === null || wanted <= begun) return wanted ?? begun;
  if (wanted === begun + 1 && phase !== 'ended') return wanted;
  throw new TidemarkError(
    'leg_not_found',
    `run ${run.run_id} has no leg ${String(wanted)}`,
    'Ask for one that has begun.',
    {
      facts: { legs: begun },
    },
  );
}

/** The run's own deliveries, with their ids, to its completion record. */
async function streamCanonical(hub: Hub, res: ServerResponse, run: RunRow, after: number): Promise<void> {
  const stream = hub.open(res, run.thread_id, 'comment');
  if (!res.headersSent) stream.openSse();
  try {
    for await (const rows of followRun(hub, run, stream)) {
      const news = rows.filter((row) => row.delivery_seq > after);
      if (news.length > 0) stream.write(news.map((row) => encodeDelivery(run.thread_id, row)).join(''));
      if (!(await stream.drained())) return;
    }
    stream.end();
  } catch (error) {
    if (stream.isOpen) hub.abandon(stream, run.thread_id, error);
  }
}

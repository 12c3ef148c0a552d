import { sseFrame } from './sse.ts';

/**
 * A row of the delivery log as an encoder needs it. `body` is the JSON text of an object with at
 * least one field, passed through as it is.
 */
export interface StoredDelivery {
  readonly delivery_seq: number;
  readonly record: 'event' | 'complete';
  readonly revision: number;
  readonly retracted: boolean;
  readonly body: string;
}

type CanonicalEventName = 'canonical' | 'canonical-complete' | 'caught-up' | 'heartbeat' | 'drain' | 'gone';

/** A delivery on the thread stream. Splices text and parses nothing: a row is shown as it was stored. */
export function encodeDelivery(threadId: string, row: StoredDelivery): string {
  const thread = JSON.stringify(threadId);
  const data =
    row.record === 'event'
      ? `{"threadId":${thread},"event":${deliveredBody(row)}}`
      : `{"threadId":${thread},"complete":${deliveredBody(row)}}`;
  return canonicalFrame(row.record === 'event' ? 'canonical' : 'canonical-complete', data, row.delivery_seq);
}

/** The same delivery as an item of a JSON page. */
export function encodeDeliveryItem(row: StoredDelivery): string {
  const retracted = row.retracted ? ',"retracted":true' : '';
  const start = `{"delivery_seq":${String(row.delivery_seq)},"revision":${String(row.revision)}${retracted}`;
  return `${start},"${row.record}":${deliveredBody(row)}}`;
}

/** Said once on a connection: all that was stored when it was opened has been sent. Carries no id. */
export function encodeCaughtUp(threadId: string, head: number): string {
  return canonicalFrame('caught-up', `{"threadId":${JSON.stringify(threadId)},"head":${String(head)}}`);
}

export const HEARTBEAT_FRAME = canonicalFrame('heartbeat', '{}');

/** The gateway is about to close the stream: come back by cursor, another one answers. */
export const DRAIN_FRAME = canonicalFrame('drain', '{}');

/** The thread was erased: the stream ends, and there is nothing to come back to. */
export function encodeGone(threadId: string): string {
  return canonicalFrame('gone', `{"threadId":${JSON.stringify(threadId)}}`);
}

function canonicalFrame(event: CanonicalEventName, data: string, id?: number): string {
  return sseFrame(id === undefined ? { event, data } : { id, event, data });
}

function deliveredBody(row: StoredDelivery): string {
  const { delivery_seq, record, revision, retracted } = row;
  const seq = `"deliverySeq":${String(delivery_seq)}`;
  const added =
    record === 'event' ? `${seq},"revision":${String(revision)}${retracted ? ',"retracted":true' : ''}` : seq;
  return `${oneLine(row.body).slice(0, -1)},${added}}`;
}

/** In JSON text a raw line break can only be space between tokens; as a space it cannot end a line of the frame. */
function oneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]/g, ' ').trim() : json;
}

import type { LifecycleEvent } from '../lifecycle.ts';
import type { LegEncoder } from './lifecycle-encoding.ts';
import { oneLineJson } from './lifecycle-json.ts';
import { sseFrame } from './sse.ts';

/**
 * `encoding=lifecycle`: every event as its v1 envelope, named by its type. `provider.metadata` is for observation inside the
 * platform and stays off the wire (lifecycle v1); its sequence number is left out with it.
 */
export const lifecycleEncoder: LegEncoder<null> = {
  initial: null,
  encode: (state, event) => ({ state, frames: event.type === 'provider.metadata' ? [] : [envelopeFrame(event)] }),
};

function envelopeFrame(event: LifecycleEvent): string {
  const { version, type, run_id, conversation_id, sequence, timestamp, namespace, data } = event;
  const envelope = { version, type, run_id, conversation_id, sequence, timestamp, namespace, data };
  return sseFrame({ event: type, data: oneLineJson(envelope) });
}

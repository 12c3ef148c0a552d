import type { LifecycleEvent } from '../lifecycle.ts';
import type { AgUiEvent } from './ag-ui-events.ts';
import { initialAgUi, type AgUiState } from './ag-ui-state.ts';
import { translateToAgUi } from './ag-ui-translation.ts';
import type { Encoded, LegContext, LegEncoder } from './lifecycle-encoding.ts';
import { oneLineJson } from './lifecycle-json.ts';
import { sseFrame } from './sse.ts';

/**
 * `encoding=ag-ui`: AG-UI 1.0, as `@ag-ui/client` 1.0 reads it with its verifier on. A run of AG-UI is a leg.
 *
 * Every frame has its delivery as its id, the first of several too: a reader that comes back with it gets a snapshot that holds
 * that whole delivery (`reopenAgUi`).
 */
export const agUiEncoder: LegEncoder<AgUiState> = { initial: initialAgUi(), encode };

function encode(state: AgUiState, event: LifecycleEvent, context: LegContext): Encoded<AgUiState> {
  const { state: next, events } = translateToAgUi(state, event, context);
  return { state: next, frames: events.map((each) => agUiFrame(each, context.deliverySeq)) };
}

export function agUiFrame(event: AgUiEvent, id?: number): string {
  const frame = { event: event.type, data: oneLineJson(event) };
  return sseFrame(id === undefined ? frame : { id, ...frame });
}

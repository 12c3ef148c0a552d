import type { LifecycleEventOf } from '../lifecycle.ts';
import type { AgUiOutcome, AgUiTokenUsage } from './ag-ui-events.ts';
import { say, type AgUiSaid, type AgUiState, type AgUiWord } from './ag-ui-state.ts';
import { endSubagents } from './ag-ui-subagents.ts';
import { closeCall } from './ag-ui-tools.ts';
import { totalUsage } from './ag-ui-usage.ts';

type Terminal = LifecycleEventOf<'run.finished' | 'run.interrupted' | 'run.cancelled' | 'run.error'>;

/** The end of a leg: all that is open is closed first, before an error too. */
export function endRun(state: AgUiState, event: Terminal): AgUiSaid {
  const words: AgUiWord[] = [];
  for (const { messageId } of state.texts) words.push({ type: 'TEXT_MESSAGE_END', messageId });
  for (const { messageId } of state.reasonings) {
    words.push({ type: 'REASONING_MESSAGE_END', messageId }, { type: 'REASONING_END', messageId });
  }
  for (const call of Object.values(state.calls)) words.push(...closeCall(call));
  words.push(...endSubagents(state, event));
  const usage = totalUsage(Object.values(state.usage));
  words.push(terminalWord(state, event, usage === null ? {} : { usage: [usage] }));
  return say({ ...state, texts: [], reasonings: [], calls: {} }, ...words);
}

function terminalWord(
  { interrupts, run }: AgUiState,
  event: Terminal,
  usage: { readonly usage?: readonly AgUiTokenUsage[] },
): AgUiWord {
  const finished = (outcome: AgUiOutcome, metadata?: object): AgUiWord => ({
    type: 'RUN_FINISHED',
    ...(run ?? { threadId: event.conversation_id, runId: event.run_id }),
    outcome,
    ...usage,
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
  });
  switch (event.type) {
    case 'run.finished':
      return finished({ type: 'success' }, { stopReason: event.data.stop_reason });
    case 'run.interrupted': {
      const { interrupt_id: id, reason } = event.data;
      const bare = { id, reason: reason === 'human_input' ? 'input_required' : 'tool_call' } as const;
      return finished({ type: 'interrupt', interrupts: interrupts.length > 0 ? interrupts : [bare] });
    }
    case 'run.cancelled': {
      const { reason, side_effect_status: sideEffectStatus } = event.data;
      return finished({ type: 'cancelled' }, { reason, sideEffectStatus });
    }
    case 'run.error': {
      const { message, code, retryable, retry_after_seconds, side_effect_status: sideEffectStatus } = event.data;
      const retryAfter = retry_after_seconds == null ? {} : { retryAfterSeconds: retry_after_seconds };
      return { type: 'RUN_ERROR', message, code, ...usage, metadata: { retryable, ...retryAfter, sideEffectStatus } };
    }
  }
}

import type { AssistantMessage, StopReason, Usage } from '../../../../contract/agent-messages.ts';
import type { Failure } from './failure.ts';
import type { MessageAssembler } from './message-assembler.ts';
import type { ProviderEvent } from './provider.ts';
import { safeText } from './safe-text.ts';

/** How a call ended. */
export type Outcome =
  | { readonly kind: 'answered'; readonly stopReason: Extract<StopReason, 'stop' | 'length' | 'tool-use'> }
  /** The provider ended its answer, but not well: what it said is whole. */
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'aborted' };

export interface Origin {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
}

/** The message of a call that has ended, and the events that end its stream. */
export function conclude(
  assembler: MessageAssembler,
  origin: Origin,
  outcome: Outcome,
  usage?: Usage,
): { message: AssistantMessage; events: ProviderEvent[] } {
  const wanted = outcome.kind === 'answered' ? outcome.stopReason : null;
  const runsTools = (wanted === 'stop' || wanted === 'tool-use') && assembler.hasToolCalls;
  const isWhole = outcome.kind === 'answered' || outcome.kind === 'refused';
  const ends = isWhole ? assembler.close(runsTools) : [];
  const base = {
    role: 'assistant' as const,
    content: assembler.content(runsTools),
    ...origin,
    ...(usage === undefined ? {} : { usage }),
    timestamp: Date.now(),
  };
  if (outcome.kind === 'answered') {
    const stopReason = outcome.stopReason === 'length' ? 'length' : runsTools ? 'tool-use' : 'stop';
    const message: AssistantMessage = { ...base, stopReason };
    return { message, events: [...ends, { type: 'done', message }] };
  }
  if (outcome.kind === 'aborted') {
    const message: AssistantMessage = { ...base, stopReason: 'aborted' };
    return { message, events: [...ends, { type: 'error', error: 'the call was stopped', message }] };
  }
  const { message: reason, ...error } = outcome.failure;
  const errorMessage = safeText(reason, []);
  const message: AssistantMessage = { ...base, stopReason: 'error', errorMessage, error };
  return { message, events: [...ends, { type: 'error', error: errorMessage, message }] };
}

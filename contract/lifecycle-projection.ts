import { assertNeverEvent, type DeliveredEvent } from './canonical.ts';
import { PLATFORM } from './frames.ts';
import { closeBlock, completeText, isSilent, openBlock, showText, withdrawBlock } from './lifecycle-blocks.ts';
import { enterChild, leaveChild, speakerOf, withdrawChild } from './lifecycle-children.ts';
import { cutStream } from './lifecycle-cut.ts';
import { childOf, root, say, type Draft } from './lifecycle-draft.ts';
import { endRun } from './lifecycle-endings.ts';
import { sayInput } from './lifecycle-inputs.ts';
import { callIdsOf } from './lifecycle-interrupts.ts';
import * as limit from './lifecycle-limits.ts';
import {
  committedHead,
  duringPause,
  forgetRequest,
  noteAnswer,
  noteRequest,
  pauseLeg,
  startLeg,
} from './lifecycle-pauses.ts';
import type { PendingInterrupt, ProjectionState } from './lifecycle-projection-state.ts';
import { completeTool, noteEffects, startTool, withdrawTool } from './lifecycle-tools.ts';
import { lifecycleCode, lifecycleMessage, lifecycleName, tokens } from './lifecycle-values.ts';
import type { LifecycleEvent } from './lifecycle.ts';

export { initialProjection, legRunId, type ProjectionState } from './lifecycle-projection-state.ts';

/**
 * The lifecycle streams of a run of any engine, leg by leg, from the rows of its delivery log in `deliverySeq` order.
 *
 * **Contract:** a pure function of (state, row): live, on replay and after a restart the same rows give the same events. Takes the
 * whole log from the run's first row, revisions and retractions included; rows of other runs change nothing. State is plain
 * JSON. What comes out is legal: at any cut it is a legal beginning, and it ends in exactly one terminal per leg. A row that would
 * make it illegal is not shown: the leg ends there as `run.error` `harness_event_invalid`, and `state.refusal` says why.
 */
export function project(
  state: ProjectionState,
  event: DeliveredEvent,
): { state: ProjectionState; events: readonly LifecycleEvent[] } {
  if (event.runId !== state.run.runId || state.phase === 'ended') return { state, events: [] };
  const draft: Draft = { state, events: [] };
  take(draft, event);
  const { refusal } = draft.state;
  return refusal === null ? { state: draft.state, events: draft.events } : cutStream(state, refusal, event);
}

/** What a paused run waits for: an entry for each answer that REST takes, with the call that the interrupt shows for it. */
export function openInterrupts({ pending, awaited }: ProjectionState): {
  readonly interrupt_id: string;
  readonly kind: PendingInterrupt['kind'];
  readonly tool_call_id: string;
  readonly prompt: string;
}[] {
  const asked = pending.filter(({ interruptId }) => awaited.includes(interruptId));
  const ids = callIdsOf(asked);
  return asked.map(({ interruptId, kind, prompt, toolCallId }, i) => {
    return { interrupt_id: interruptId, kind, tool_call_id: ids[i] ?? toolCallId, prompt };
  });
}

function take(draft: Draft, event: DeliveredEvent): void {
  draft.state = { ...draft.state, ms: Math.max(draft.state.ms, event.ts) };
  if (draft.state.phase === 'ended') return;
  if (draft.state.phase === 'paused') {
    for (const held of duringPause(draft, event)) take(draft, held);
    return;
  }
  if (draft.state.phase === 'before') startLeg(draft);
  if (event.retracted === true) withdraw(draft, event);
  else translate(draft, event);
}

/** Total over the grammar: a kind without a lifecycle counterpart is named here. */
function translate(draft: Draft, event: DeliveredEvent): void {
  switch (event.kind) {
    case 'message.started':
    case 'message.delta':
    case 'message.completed':
    case 'reasoning.delta':
    case 'reasoning.completed':
      return translateBlock(draft, event);
    case 'tool.started': {
      const speaker = speakerOf(draft, event);
      if (speaker !== null) startTool(draft, event, speaker.namespace);
      return;
    }
    case 'tool.completed': {
      const speaker = speakerOf(draft, event);
      if (speaker !== null) completeTool(draft, event, event, speaker.namespace);
      return;
    }
    case 'child.started':
      return enterChild(draft, event, childOf(draft, event)?.path ?? []);
    case 'child.completed': {
      const failed = event.identity.provider === PLATFORM ? 'cancelled' : 'error';
      return leaveChild(draft, event.childId, event.status === 'ok' ? 'success' : failed, event.result);
    }
    case 'approval.requested':
    case 'question.requested': {
      const speaker = speakerOf(draft, event);
      if (speaker !== null) noteRequest(draft, event, speaker);
      return;
    }
    case 'approval.resolved':
    case 'question.resolved':
      return noteAnswer(draft, event);
    case 'session.metadata':
      return translateSession(draft, event.metadata);
    case 'usage.updated':
      return translateUsage(draft, event);
    case 'harness.warning': {
      return warn(draft, lifecycleCode(event.code, 'harness_warning'), event.message, event.rawEventType);
    }
    case 'context.marker': {
      const isRepeated = event.markerType === 'reconciling' && event.sourceEventType === 'step.started';
      const text = event.detail === undefined ? event.title : `${event.title}: ${event.detail}`;
      return warn(draft, isRepeated ? 'step_repeated' : `context_${event.markerType}`, text);
    }
    case 'harness.error': {
      const code = lifecycleCode(event.code, event.fatal ? 'internal' : 'harness_error');
      if (!event.fatal) return warn(draft, code, event.message);
      draft.state = { ...draft.state, fault: { code, message: event.message } };
      return;
    }
    case 'turn.completed':
      return endRun(draft, event);
    case 'file.changed':
    case 'terminal.output':
      return noteEffects(draft, 'known');
    case 'turn.started':
      return sayInput(draft, event);
    case 'session.started':
    case 'plan.updated':
    case 'tool.progress':
    case 'artifact.created':
    case 'artifact.delivered':
    case 'child.updated':
    case 'commands.updated':
    case 'mode.updated':
      return;
    default:
      return assertNeverEvent(event);
  }
}

type BlockEvent = Extract<DeliveredEvent, { kind: `message.${string}` | `reasoning.${string}` }>;

function familyOf({ kind }: BlockEvent): 'text' | 'reasoning' {
  return kind.startsWith('message.') ? 'text' : 'reasoning';
}

function translateBlock(draft: Draft, event: BlockEvent): void {
  const speaker = speakerOf(draft, event);
  if (speaker === null) return;
  const { messageId } = event;
  const family = familyOf(event);
  const hasEnded = event.kind === 'message.completed' || event.kind === 'reasoning.completed';
  const saysText = 'text' in event && event.text !== undefined;
  if (isSilent(draft, { family, messageId, saysText, hasEnded })) return;
  const key = openBlock(draft, { family, messageId, namespace: speaker.namespace });
  if (key === null) return;
  if ('text' in event && event.text !== undefined) {
    if (event.kind === 'message.completed') completeText(draft, key, messageId, event.text);
    else showText(draft, key, event.text);
  }
  if (hasEnded) closeBlock(draft, key);
}

function translateSession(draft: Draft, metadata: Readonly<Record<string, unknown>>): void {
  if (metadata['state'] === 'parked') pauseLeg(draft, metadata);
  if (metadata['state'] === 'committed') draft.state = { ...draft.state, committed: committedHead(metadata) };
}

function translateUsage(draft: Draft, event: Extract<DeliveredEvent, { kind: 'usage.updated' }>): void {
  const cost = event.costUsd !== undefined && event.costUsd <= limit.COST_LIMIT ? event.costUsd : null;
  const data = {
    input_tokens: tokens(event.inputTokens),
    output_tokens: tokens(event.outputTokens),
    cached_input_tokens: tokens(event.cachedInputTokens),
    cost,
    currency: cost === null ? null : 'USD',
    final: false,
  };
  say(draft, root({ type: 'usage.updated', data }));
}

/** A revision that takes back its event. What only informed stays said; an answer and the end of a run are never taken back. */
function withdraw(draft: Draft, event: DeliveredEvent): void {
  switch (event.kind) {
    case 'message.started':
    case 'message.delta':
    case 'message.completed':
    case 'reasoning.delta':
    case 'reasoning.completed':
      return withdrawBlock(draft, familyOf(event), event.messageId);
    case 'tool.started':
    case 'tool.completed':
      return withdrawTool(draft, event.toolCallId);
    case 'child.started':
      return withdrawChild(draft, event.childId);
    case 'approval.requested':
      return forgetRequest(draft, event.approvalId);
    case 'question.requested':
      return forgetRequest(draft, event.questionId);
    case 'session.started':
    case 'session.metadata':
    case 'turn.started':
    case 'turn.completed':
    case 'plan.updated':
    case 'tool.progress':
    case 'file.changed':
    case 'artifact.created':
    case 'artifact.delivered':
    case 'terminal.output':
    case 'child.updated':
    case 'child.completed':
    case 'approval.resolved':
    case 'question.resolved':
    case 'commands.updated':
    case 'mode.updated':
    case 'usage.updated':
    case 'context.marker':
    case 'harness.warning':
    case 'harness.error':
      return;
    default:
      return assertNeverEvent(event);
  }
}

function warn(draft: Draft, code: string, message: string, rawEventType?: string): void {
  const details =
    rawEventType === undefined ? {} : { details: { raw_event_type: lifecycleName(rawEventType, 'unnamed') } };
  const data = { code, message: lifecycleMessage(message, 'the engine gave a warning without words'), ...details };
  say(draft, root({ type: 'warning', data }));
}

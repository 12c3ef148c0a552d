import type { LifecycleEventOf } from '../lifecycle.ts';
import type { AgUiMetadata } from './ag-ui-events.ts';
import {
  attribution,
  pathKey,
  say,
  sayFrom,
  wireId,
  type AgUiSaid,
  type AgUiState,
  type AgUiWord,
  type OpenCall,
} from './ag-ui-state.ts';
import { extendArguments, hasArguments, NO_ARGUMENTS } from './lifecycle-arguments.ts';
import { drop, find, put } from './lifecycle-table.ts';

/** A call whose arguments are given is closed at once; one without may still stream them. */
export function startCall(before: AgUiState, event: LifecycleEventOf<'tool.started'>): AgUiSaid {
  const { tool_call_id: toolCallId, tool_name: toolCallName, arguments: args } = event.data;
  if (find(before.unanswered, toolCallId) !== undefined) return say(before);
  const state: AgUiState = { ...before, unanswered: put(before.unanswered, toolCallId, true) };
  const start: OpenCall['start'] = {
    type: 'TOOL_CALL_START',
    ...{ toolCallId, toolCallName },
    parentMessageId: carrier(state, event),
    ...attribution(state, event.namespace),
  };
  if (hasArguments(args)) {
    const delta = JSON.stringify(args);
    const rest: AgUiWord[] = [
      { type: 'TOOL_CALL_ARGS', toolCallId, delta },
      { type: 'TOOL_CALL_END', toolCallId },
    ];
    return sayFrom(state, event, start, ...rest);
  }
  const calls = put(state.calls, toolCallId, { start, arguments: NO_ARGUMENTS });
  return sayFrom({ ...state, calls }, event, start);
}

export function extendCall(state: AgUiState, event: LifecycleEventOf<'tool.arguments.delta'>): AgUiSaid {
  const { tool_call_id: toolCallId, delta } = event.data;
  const call = find(state.calls, toolCallId);
  if (call === undefined || delta === '') return say(state);
  const args = extendArguments(call.arguments, delta);
  const part: AgUiWord = { type: 'TOOL_CALL_ARGS', toolCallId, delta: args.text.slice(call.arguments.text.length) };
  if (!args.isWhole) {
    return sayFrom({ ...state, calls: put(state.calls, toolCallId, { ...call, arguments: args }) }, event, part);
  }
  const closed = { ...state, calls: drop(state.calls, toolCallId) };
  return sayFrom(closed, event, part, { type: 'TOOL_CALL_END', toolCallId });
}

/** The result follows the end of the call; it may answer a call of an earlier leg. */
export function answerCall(
  state: AgUiState,
  event: LifecycleEventOf<'tool.finished' | 'tool.error'>,
  answer: { readonly content: string; readonly metadata?: AgUiMetadata },
): AgUiSaid {
  const { tool_call_id: toolCallId } = event.data;
  const call = find(state.calls, toolCallId);
  const answered = { calls: drop(state.calls, toolCallId), unanswered: drop(state.unanswered, toolCallId) };
  return sayFrom({ ...state, ...answered }, event, ...(call === undefined ? [] : closeCall(call)), {
    type: 'TOOL_CALL_RESULT',
    ...{ messageId: wireId.result(toolCallId), toolCallId, ...answer },
    role: 'tool',
    ...attribution(state, event.namespace),
  });
}

/** Nothing streamed means that the call takes no arguments: the client holds them as JSON all the same. */
export function closeCall({ start: { toolCallId }, arguments: { text } }: OpenCall): AgUiWord[] {
  const none: AgUiWord[] = text === '' ? [{ type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' }] : [];
  return [...none, { type: 'TOOL_CALL_END', toolCallId }];
}

/**
 * The message that carries a call: the one that the event names, if the same agent began it in this leg, and else one of the
 * call's own. A client refuses a call, or a later text, whose agent is not the one that the message belongs to.
 */
function carrier({ recent }: AgUiState, { namespace, data }: LifecycleEventOf<'tool.started'>): string {
  const { tool_call_id, parent_message_id } = data;
  if (parent_message_id === undefined) return wireId.call(tool_call_id);
  const parent = wireId.text(parent_message_id);
  return find(recent, pathKey(namespace))?.includes(parent) === true ? parent : wireId.call(tool_call_id);
}

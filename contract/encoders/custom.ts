import { assertNeverLifecycle, type LifecycleEvent, type LifecycleEventOf } from '../lifecycle.ts';
import { approvalRequest, displayText, formRequest } from './custom-display.ts';
import { asciiJson } from './custom-json.ts';
import { callPath, enter, leave, nameOf, NO_SPEAKERS, type Speakers } from './custom-speakers.ts';
import {
  extendArguments,
  hasArguments,
  NO_ARGUMENTS,
  parseArguments,
  type ArgumentText,
} from './lifecycle-arguments.ts';
import type { Encoded, LegContext, LegEncoder } from './lifecycle-encoding.ts';
import { drop, find, put, type Table } from './lifecycle-table.ts';
import { sseFrame } from './sse.ts';

export interface CustomState {
  readonly speakers: Speakers;
  /** Calls that were started without arguments: these may still stream. */
  readonly calls: Table<StreamingCall>;
  /** The frame that the pause ends the stream with. */
  readonly pause: string | null;
}

interface StreamingCall {
  readonly name: string;
  readonly arguments: ArgumentText;
}

/**
 * `encoding=custom`: the frames of the existing custom protocol (source facts B.2), byte for byte as Python writes them. A
 * call's arguments that stream are shown when they are whole, in a second `tool_start` of the same id, which these clients
 * take for the first with more known. The stream ends with exactly one of `done`, `input_required` and `error`, or with
 * nothing when the run was cancelled.
 */
export const customEncoder: LegEncoder<CustomState> = {
  initial: { speakers: NO_SPEAKERS, calls: {}, pause: null },
  encode,
};

function encode(state: CustomState, event: LifecycleEvent, context: LegContext): Encoded<CustomState> {
  switch (event.type) {
    case 'text.delta': {
      const { delta } = event.data;
      return delta === '' ? quiet(state) : say(state, 'content', { text: delta, namespace: pathOf(state, event) });
    }
    case 'tool.started':
      return startTool(state, event);
    case 'tool.arguments.delta':
      return extendTool(state, event);
    case 'tool.finished': {
      const { result } = event.data;
      return endTool(state, event, result === '' ? {} : { result: displayText(result) });
    }
    case 'tool.error':
      return endTool(state, event, { error: event.data.message });
    case 'warning':
      return say(state, 'warning', { message: event.data.message, namespace: [] });
    case 'interrupt.requested':
      return quiet({ ...state, pause: pauseFrame(state, event, context) });
    case 'run.interrupted':
      return { state, frames: state.pause === null ? [] : [state.pause] };
    case 'run.error':
      return say(state, 'error', { error: event.data.message });
    case 'run.finished':
      return say(state, 'done', {});
    case 'namespace.entered':
      return quiet({ ...state, speakers: enter(state.speakers, event) });
    case 'namespace.exited':
      return quiet({ ...state, speakers: leave(state.speakers, event) });
    case 'run.started':
    case 'run.cancelled':
    case 'text.started':
    case 'text.finished':
    case 'reasoning.started':
    case 'reasoning.delta':
    case 'reasoning.finished':
    case 'usage.updated':
    case 'provider.metadata':
      return quiet(state);
    default:
      return assertNeverLifecycle(event);
  }
}

function startTool(state: CustomState, event: LifecycleEventOf<'tool.started'>): Encoded<CustomState> {
  const { tool_call_id, tool_name, arguments: args } = event.data;
  const calls = hasArguments(args)
    ? state.calls
    : put(state.calls, tool_call_id, { name: tool_name, arguments: NO_ARGUMENTS });
  return say({ ...state, calls }, 'tool_start', { tool_name, tool_call_id, args, namespace: pathOf(state, event) });
}

function extendTool(state: CustomState, event: LifecycleEventOf<'tool.arguments.delta'>): Encoded<CustomState> {
  const { tool_call_id, delta } = event.data;
  const call = find(state.calls, tool_call_id);
  if (call === undefined) return quiet(state);
  const extended = extendArguments(call.arguments, delta);
  if (!extended.isWhole) {
    return quiet({ ...state, calls: put(state.calls, tool_call_id, { ...call, arguments: extended }) });
  }
  const done = { ...state, calls: drop(state.calls, tool_call_id) };
  const args = parseArguments(extended);
  if (args === null || !hasArguments(args)) return quiet(done);
  return say(done, 'tool_start', { tool_name: call.name, tool_call_id, args, namespace: pathOf(state, event) });
}

function endTool(
  state: CustomState,
  event: LifecycleEventOf<'tool.finished' | 'tool.error'>,
  outcome: { readonly result?: string; readonly error?: string },
): Encoded<CustomState> {
  const { tool_call_id } = event.data;
  const end = { tool_call_id, namespace: pathOf(state, event), ...outcome };
  return say({ ...state, calls: drop(state.calls, tool_call_id) }, 'tool_end', end);
}

/** Kept until the run is interrupted: calls may still be closed before, and if the pause cannot be committed it is not shown. */
function pauseFrame(state: CustomState, event: LifecycleEventOf<'interrupt.requested'>, context: LegContext): string {
  const { data } = event;
  const head = { type: data.interrupt_type, interrupt_id: data.interrupt_id };
  const agent = nameOf(state.speakers, data.agent_id, context);
  if (data.interrupt_type === 'form_input') return frame('input_required', { ...head, agent, ...formRequest(data) });
  const { request, several } = approvalRequest(data);
  return frame('input_required', { ...head, agent, ...request, ...several });
}

function pathOf({ speakers }: CustomState, { namespace }: LifecycleEvent): readonly string[] {
  return namespace.length === 0 ? namespace : callPath(speakers, namespace);
}

function say(state: CustomState, event: string, data: object): Encoded<CustomState> {
  return { state, frames: [frame(event, data)] };
}

function quiet(state: CustomState): Encoded<CustomState> {
  return { state, frames: [] };
}

function frame(event: string, data: object): string {
  return sseFrame({ event, data: asciiJson(data) });
}

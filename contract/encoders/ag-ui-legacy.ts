import { assertNeverLifecycle, type LifecycleEvent, type LifecycleEventOf } from '../lifecycle.ts';
import { legacyFrame, type LegacyPayload } from './ag-ui-legacy-frame.ts';
import { approvalRequest, displayText, formRequest } from './custom-display.ts';
import { asciiJson } from './custom-json.ts';
import { callPath, enter, leave, nameOf, NO_SPEAKERS, pathKey, type Speakers } from './custom-speakers.ts';
import {
  extendArguments,
  hasArguments,
  NO_ARGUMENTS,
  parseArguments,
  type ArgumentText,
} from './lifecycle-arguments.ts';
import type { Encoded, LegContext, LegEncoder } from './lifecycle-encoding.ts';
import { drop, find, put, type Table } from './lifecycle-table.ts';

export interface AgUiLegacyState {
  readonly speakers: Speakers;
  /** The namespace that the client is in: the last that was said. */
  readonly namespace: readonly string[];
  /** Open messages, oldest first. */
  readonly texts: readonly string[];
  /** Calls whose arguments were not said yet. */
  readonly calls: Table<ArgumentText>;
  readonly pause: { readonly id: string; readonly reason: string; readonly payload: object } | null;
}

/** What one event comes to: payloads, and the state after them. */
interface Said {
  readonly state: AgUiLegacyState;
  readonly payloads: readonly LegacyPayload[];
}

/**
 * `encoding=ag-ui-legacy`: the AG-UI dialect of the existing service (source facts B.3), byte for byte as Python writes it:
 * RESULT before END, which means that the call is done; a tool error is a result that begins with `ERROR:`; no frame for
 * reasoning, nor for a cancelled run. Unlike that service it closes an open message before RUN_ERROR.
 */
export const agUiLegacyEncoder: LegEncoder<AgUiLegacyState> = {
  initial: { speakers: NO_SPEAKERS, namespace: [], texts: [], calls: {}, pause: null },
  encode,
};

function encode(state: AgUiLegacyState, event: LifecycleEvent, context: LegContext): Encoded<AgUiLegacyState> {
  const said = translate(state, event, context);
  return { state: said.state, frames: said.payloads.map((payload) => legacyFrame(payload, event.timestamp)) };
}

function translate(state: AgUiLegacyState, event: LifecycleEvent, context: LegContext): Said {
  switch (event.type) {
    case 'run.started':
      return say(state, { type: 'RUN_STARTED', ...runIds(event, context) });
    case 'text.started': {
      const { message_id: messageId } = event.data;
      const opened = { ...state, texts: [...state.texts, messageId] };
      return sayFrom(opened, event, { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
    }
    case 'text.delta': {
      const { message_id: messageId, delta } = event.data;
      return delta === '' ? say(state) : sayFrom(state, event, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    }
    case 'text.finished': {
      const { message_id: messageId } = event.data;
      const closed = { ...state, texts: state.texts.filter((id) => id !== messageId) };
      return say(closed, { type: 'TEXT_MESSAGE_END', messageId });
    }
    case 'tool.started':
      return startTool(state, event);
    case 'tool.arguments.delta':
      return extendTool(state, event);
    case 'tool.finished':
      return endTool(state, event, event.data.result);
    case 'tool.error': {
      const { message } = event.data;
      return endTool(state, event, message.startsWith('ERROR:') ? message : `ERROR: ${message}`);
    }
    case 'warning': {
      const value = { message: event.data.message, namespace: [] };
      return say(state, { type: 'CUSTOM', name: 'WARNING', value });
    }
    case 'interrupt.requested':
      return say({ ...state, pause: pauseOf(state, event, context) });
    case 'run.interrupted':
    case 'run.finished':
      return finish(state, event, context);
    case 'run.error': {
      const { message, code } = event.data;
      return flush(state, { type: 'RUN_ERROR', message, code });
    }
    case 'namespace.entered':
      return say({ ...state, speakers: enter(state.speakers, event) });
    case 'namespace.exited':
      return say({ ...state, speakers: leave(state.speakers, event) });
    case 'run.cancelled':
    case 'reasoning.started':
    case 'reasoning.delta':
    case 'reasoning.finished':
    case 'usage.updated':
    case 'provider.metadata':
      return say(state);
    default:
      return assertNeverLifecycle(event);
  }
}

function startTool(state: AgUiLegacyState, event: LifecycleEventOf<'tool.started'>): Said {
  const { tool_call_id: toolCallId, tool_name: toolCallName, arguments: args } = event.data;
  const start: LegacyPayload = { type: 'TOOL_CALL_START', toolCallId, toolCallName };
  if (hasArguments(args)) return sayFrom(state, event, start, argsPayload(toolCallId, asciiJson(args)));
  return sayFrom({ ...state, calls: put(state.calls, toolCallId, NO_ARGUMENTS) }, event, start);
}

function extendTool(state: AgUiLegacyState, event: LifecycleEventOf<'tool.arguments.delta'>): Said {
  const { tool_call_id: toolCallId, delta } = event.data;
  const before = find(state.calls, toolCallId);
  if (before === undefined) return say(state);
  const args = extendArguments(before, delta);
  if (!args.isWhole) return say({ ...state, calls: put(state.calls, toolCallId, args) });
  const known = { ...state, calls: drop(state.calls, toolCallId) };
  return sayFrom(known, event, argsPayload(toolCallId, wholeArguments(args)));
}

function endTool(state: AgUiLegacyState, event: LifecycleEventOf<'tool.finished' | 'tool.error'>, text: string): Said {
  const { tool_call_id } = event.data;
  const args = find(state.calls, tool_call_id);
  const content = displayText(text);
  return sayFrom(
    { ...state, calls: drop(state.calls, tool_call_id) },
    event,
    ...(args === undefined ? [] : [argsPayload(tool_call_id, wholeArguments(args))]),
    ...(content === ''
      ? []
      : [{ type: 'TOOL_CALL_RESULT', message_id: null, tool_call_id, content, role: 'tool' } as const]),
    { type: 'TOOL_CALL_END', toolCallId: tool_call_id },
  );
}

/** One JSON text, escaped as ASCII inside the frame that is not. What never became an object is said as it came. */
function wholeArguments(args: ArgumentText): string {
  if (args.text === '') return '{}';
  const value = parseArguments(args);
  return value === null ? args.text : asciiJson(value);
}

function argsPayload(toolCallId: string, delta: string): LegacyPayload {
  return { type: 'TOOL_CALL_ARGS', toolCallId, delta };
}

function pauseOf(state: AgUiLegacyState, event: LifecycleEventOf<'interrupt.requested'>, context: LegContext) {
  const { data } = event;
  const agent = nameOf(state.speakers, data.agent_id, context);
  if (data.interrupt_type === 'form_input') {
    return { id: data.interrupt_id, reason: 'human_input', payload: { ...formRequest(data), agent } };
  }
  const { request, several } = approvalRequest(data);
  return { id: data.interrupt_id, reason: 'tool_approval', payload: { ...request, agent, ...several } };
}

type Finish = LifecycleEventOf<'run.finished' | 'run.interrupted'>;

function finish(state: AgUiLegacyState, event: Finish, context: LegContext): Said {
  const run = { type: 'RUN_FINISHED', ...runIds(event, context) } as const;
  if (event.type === 'run.finished') return flush(state, { ...run, outcome: 'success' });
  const { interrupt_id: id, reason } = event.data;
  return flush(state, { ...run, outcome: 'interrupt', interrupt: state.pause ?? { id, reason, payload: {} } });
}

function runIds(event: LifecycleEvent, { runId = event.run_id, threadId = event.conversation_id }: LegContext) {
  return { runId, threadId };
}

/** The end of the stream: open messages are closed and arguments that are still held back are said first. */
function flush(state: AgUiLegacyState, terminal: LegacyPayload): Said {
  const args = Object.entries(state.calls).map(([id, held]) => argsPayload(id, wholeArguments(held)));
  const ends = state.texts.map((messageId): LegacyPayload => ({ type: 'TEXT_MESSAGE_END', messageId }));
  return say({ ...state, texts: [], calls: {} }, ...args, ...ends, terminal);
}

/** Payloads of the event's own namespace: the client is told first when that is another one. */
function sayFrom(state: AgUiLegacyState, { namespace }: LifecycleEvent, ...payloads: LegacyPayload[]): Said {
  if (namespace.length === 0 && state.namespace.length === 0) return say(state, ...payloads);
  const path = callPath(state.speakers, namespace);
  if (pathKey(path) === pathKey(state.namespace)) return say(state, ...payloads);
  const change: LegacyPayload = { type: 'CUSTOM', name: 'NAMESPACE_CONTEXT', value: { namespace: path } };
  return say({ ...state, namespace: path }, change, ...payloads);
}

function say(state: AgUiLegacyState, ...payloads: LegacyPayload[]): Said {
  return { state, payloads };
}

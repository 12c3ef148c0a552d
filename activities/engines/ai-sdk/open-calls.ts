import type { ArtifactRef, CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS, previewInput } from '../../../contract/platform-frames.ts';
import { entryOf, withEntry, withoutEntry } from '../acp/bounded-table.ts';
import { shownValue } from '../hosted/shown-value.ts';
import { childCompleted, childStarted } from './child-calls.ts';
import type { ToolCall } from './parts.ts';
import { TABLE_LIMITS, type AiSdkState, type OpenCall } from './translation-state.ts';

const TITLE_CHARS = 300;

export type CallEnd =
  | { readonly status: 'ok'; readonly output: unknown; readonly artifact?: ArtifactRef | undefined }
  | { readonly status: 'error'; readonly error: string; readonly nativeStatus?: string };

export const DENIED = { status: 'error', error: 'denied', nativeStatus: 'denied' } as const satisfies CallEnd;
const CANCELLED: CallEnd = { status: 'error', error: 'cancelled', nativeStatus: 'cancelled' };

/** How a call ends that a person or a rule has refused. */
export function deniedFor(reason: string | null | undefined): CallEnd {
  if (reason == null || reason === '') return DENIED;
  return { ...DENIED, error: previewText(`denied: ${reason}`, PREVIEW_LIMIT_CHARS) };
}

/** Some models number the calls of each answer anew: a call under the id of one that ended is another one. */
export function reopened(state: AiSdkState, toolCallId: string): AiSdkState {
  const ended = state.ended.filter((id) => id !== toolCallId);
  if (ended.length === state.ended.length) return state;
  return { ...state, ended, repeats: state.repeats + 1 };
}

/** What a call begins with, as far as it was not said: the call, and its sub-agent. */
export function beginCall(
  state: AiSdkState,
  { toolCallId, toolName: name, title, input }: ToolCall,
  isChildNow: boolean,
): { state: AiSdkState; call: OpenCall; bodies: CanonicalBody[] } {
  const known = entryOf(state.calls, toolCallId);
  const isChild = isChildNow || known?.isChild === true;
  if (known?.isChild === isChild) return { state, call: known, bodies: [] };
  const shownId = known?.shownId ?? (state.repeats === 0 ? toolCallId : `${toolCallId}.${String(state.repeats)}`);
  const call: OpenCall = { shownId, isChild };
  const started: CanonicalBody = {
    kind: 'tool.started',
    toolCallId: shownId,
    name,
    ...(title == null || title === '' ? {} : { title: previewText(title, TITLE_CHARS) }),
    ...(input === undefined ? {} : { input: previewInput(input) }),
  };
  return {
    state: { ...state, calls: withEntry(state.calls, toolCallId, call, TABLE_LIMITS.calls) },
    call,
    bodies: [...(known === undefined ? [started] : []), ...(isChild ? [childStarted({ shownId, name, input })] : [])],
  };
}

/** A call's end, and its sub-agent's before it. Of a call that is not open nothing is said. */
export function endCall(
  state: AiSdkState,
  toolCallId: string,
  end: CallEnd,
): { state: AiSdkState; bodies: CanonicalBody[] } {
  const call = entryOf(state.calls, toolCallId);
  if (call === undefined) return { state, bodies: [] };
  const { shownId, isChild } = call;
  const output = end.status === 'ok' ? end.output : end.error;
  const child = isChild ? [childCompleted(shownId, { status: end.status, output })] : [];
  const calls = withoutEntry(state.calls, toolCallId);
  const ended = [...state.ended, toolCallId].slice(-TABLE_LIMITS.calls);
  const bodies: CanonicalBody[] = [...child, { kind: 'tool.completed', toolCallId: shownId, ...shownEnd(end) }];
  return { state: { ...state, calls, ended }, bodies };
}

/** Ends every call that the run's end cuts off. */
export function callsCutOff(state: AiSdkState): { state: AiSdkState; bodies: CanonicalBody[] } {
  let next: AiSdkState = { ...state, approvals: [] };
  const bodies: CanonicalBody[] = [];
  for (const [toolCallId] of state.calls) {
    const ended = endCall(next, toolCallId, CANCELLED);
    next = ended.state;
    bodies.push(...ended.bodies);
  }
  return { state: next, bodies };
}

function shownEnd(end: CallEnd) {
  if (end.status === 'error') return end;
  const preview = shownValue(end.output);
  return {
    status: end.status,
    ...(preview === '' ? {} : { preview }),
    ...(end.artifact === undefined ? {} : { artifact: end.artifact }),
  };
}

import type { CanonicalBody } from '../../../contract/canonical.ts';
import { entryOf } from '../bounded-table.ts';
import { beginCall, callsCutOff, endCall, type CallEnd, type OpenCall } from '../hosted/open-calls.ts';
import { childCompleted, childStarted } from './child-calls.ts';
import type { ToolCall } from './parts.ts';
import type { AiSdkState, Change } from './translation-state.ts';

/** What a call begins with, as far as it was not said: the call, and its sub-agent. */
export function begin(state: AiSdkState, call: ToolCall, isChild: boolean): Change & { call: OpenCall } {
  const { toolCallId: id, toolName: name, title, input } = call;
  const known = entryOf(state.calls.open, id);
  // the same input comes again with the result, and may have been shortened there
  const news = known === undefined ? { input } : {};
  const { calls, open, bodies } = beginCall(state.calls, { id, name, title, ...news });
  const isKnownChild = state.children.includes(id);
  const children = isChild && !isKnownChild ? [...state.children, id] : state.children;
  const isNews = isKnownChild ? known?.isStale === true : isChild;
  const child = isNews ? [childOf(open)] : [];
  return { state: { ...state, calls, children }, call: open, bodies: [...bodies, ...child] };
}

/** A call's end, and its sub-agent's before it. Of a call that is not open nothing is said. */
export function end(state: AiSdkState, toolCallId: string, how: CallEnd): Change {
  const { calls, open, bodies } = endCall(state.calls, toolCallId, how);
  if (open === null) return { state, bodies };
  const children = state.children.filter((id) => id !== toolCallId);
  const next = { ...state, calls, children };
  if (!state.children.includes(toolCallId)) return { state: next, bodies };
  const output = how.status === 'ok' ? how.output : how.error;
  const begun = open.isStale ? [childOf(open)] : [];
  const completed = childCompleted(open.shownId, { status: how.status, output });
  return { state: next, bodies: [...begun, completed, ...bodies] };
}

function childOf({ shownId, started }: OpenCall): CanonicalBody {
  return childStarted(shownId, started);
}

/** Ends every call, and every sub-agent, that the run's end cuts off. */
export function cutOff(state: AiSdkState): Change {
  const { calls, cut } = callsCutOff(state.calls);
  const isChild = (shownId: string) =>
    state.calls.open.some(([id, open]) => open.shownId === shownId && state.children.includes(id));
  const bodies = cut.flatMap(({ open, body }) => {
    return isChild(open.shownId)
      ? [childCompleted(open.shownId, { status: 'error', output: 'cancelled' }), body]
      : [body];
  });
  return { state: { ...state, calls, children: [], approvals: [] }, bodies };
}

import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import type { Item, TurnMessage } from './codex-schema.ts';
import { faultText } from '../fault-text.ts';
import { keyOf } from './text-items.ts';
import { saying, type Children, type CodexState, type Step } from './translation-state.ts';

const SHOWN_CHARS = 2_000;
const GONE: ReadonlySet<string> = new Set(['interrupted', 'errored', 'shutdown', 'notFound', 'not_found']);

/** A translator's state that knows which sub-agents were said. */
interface WithChildren {
  readonly children: Children;
}

/** A sub-agent's thread is known from now on: said once. */
export function childSeen<S extends WithChildren>(
  state: S,
  childId: string,
  launch?: Item,
): { state: S; bodies: CanonicalBody[] } {
  if (state.children[keyOf(childId)] !== undefined) return { state, bodies: [] };
  const children = { ...state.children, [keyOf(childId)]: { lastText: '' } };
  return { state: { ...state, children }, bodies: [{ kind: 'child.started', childId, ...launched(launch) }] };
}

function launched(item: Item | undefined) {
  if (item === undefined) return {};
  const { prompt, model } = item;
  const state = {
    ...(prompt == null ? {} : { prompt: previewText(prompt, SHOWN_CHARS) }),
    ...(model == null || model === '' ? {} : { model }),
  };
  return { launchToolCallId: item.id, state };
}

/** What a tool of the parent did to its sub-agents. */
export function collaboration<S extends WithChildren>(state: S, item: Item): { state: S; bodies: CanonicalBody[] } {
  let next = state;
  const bodies: CanonicalBody[] = [];
  for (const childId of new Set([...item.receiverThreadIds, ...Object.keys(item.agentsStates)])) {
    if (childId === '') continue;
    const seen = childSeen(next, childId, item);
    next = seen.state;
    bodies.push(...seen.bodies);
    const agent = Object.hasOwn(item.agentsStates, childId) ? item.agentsStates[childId] : undefined;
    if (agent === undefined) continue;
    const summary = agent.message == null ? {} : { state: { summary: previewText(agent.message, SHOWN_CHARS) } };
    if (agent.status === 'completed') {
      const result = agent.message == null ? {} : { result: previewText(agent.message, SHOWN_CHARS) };
      bodies.push({ kind: 'child.completed', childId, status: 'ok', ...result });
    } else if (GONE.has(agent.status)) bodies.push({ kind: 'child.completed', childId, status: 'error', ...summary });
    else bodies.push({ kind: 'child.updated', childId, status: agent.status, ...summary });
  }
  return { state: next, bodies };
}

/** A sub-agent as its own item in the parent's turn. */
export function activity(state: CodexState, item: Item): Step {
  const { agentThreadId: childId, kind } = item;
  if (childId == null || childId === '') return { state, said: undefined };
  const seen = childSeen(state, childId);
  if (kind === 'completed' || kind === 'interrupted') {
    const status = kind === 'completed' ? 'ok' : 'error';
    return saying(seen.state, [...seen.bodies, { kind: 'child.completed', childId, status }]);
  }
  return saying(seen.state, [...seen.bodies, { kind: 'child.updated', childId, status: String(kind) }]);
}

/** The end of a sub-agent's turn: its last message is its result. */
export function childTurnEnded(state: CodexState, { threadId, turn }: TurnMessage): CanonicalBody {
  const lastText = state.children[keyOf(threadId)]?.lastText ?? '';
  const result = turn.status === 'failed' ? faultText(turn.error?.message) : lastText;
  return {
    kind: 'child.completed',
    childId: threadId,
    status: turn.status === 'completed' ? 'ok' : 'error',
    ...(result === '' ? {} : { result: previewText(result, SHOWN_CHARS) }),
    state: { status: turn.status },
  };
}

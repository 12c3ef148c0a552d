import type { LifecycleEvent } from '../lifecycle.ts';
import { AG_UI_VERSION, type AgUiBody, type AgUiEvent, type AgUiMessage } from './ag-ui-events.ts';
import { foldAgUiMessages } from './ag-ui-messages.ts';
import { initialAgUi, namespaceContext, type AgUiState } from './ag-ui-state.ts';
import { translateToAgUi } from './ag-ui-translation.ts';
import { agUiFrame } from './ag-ui.ts';
import type { LegContext } from './lifecycle-encoding.ts';

/** A leg as far as a cursor: where its encoder stands, and the conversation that a client holds by then. Plain JSON. */
export interface AgUiReplay {
  readonly state: AgUiState;
  readonly messages: readonly AgUiMessage[];
  /** The results that this leg has said. */
  readonly results: readonly ToolResult[];
}

type ToolResult = Extract<AgUiEvent, { type: 'TOOL_CALL_RESULT' }>;

/**
 * The beginning of a leg. `before` is the thread's conversation up to it, the user's message included and with the ids that
 * clients know: a client drops what a snapshot leaves out.
 */
export function startAgUiReplay(before: readonly AgUiMessage[] = [], unanswered: readonly string[] = []): AgUiReplay {
  return { state: initialAgUi(unanswered), messages: before, results: [] };
}

/** Takes the next events of the leg. A batch costs one copy of the messages: give it a page at a time. */
export function advanceAgUiReplay(
  replay: AgUiReplay,
  batch: Iterable<{ readonly event: LifecycleEvent; readonly context: LegContext }>,
): AgUiReplay {
  let { state } = replay;
  const said: AgUiEvent[] = [];
  for (const { event, context } of batch) {
    const translated = translateToAgUi(state, event, context);
    state = translated.state;
    for (const each of translated.events) said.push(each);
  }
  const results = said.filter((event) => event.type === 'TOOL_CALL_RESULT');
  return {
    state,
    messages: foldAgUiMessages(replay.messages, said),
    results: results.length === 0 ? replay.results : [...replay.results, ...results],
  };
}

/**
 * What a client that comes back in the middle of a leg is given before the live rest: the run again, the conversation so far with
 * the partial message in it, and what is open opened again; the client then appends to what the snapshot holds. After the end of
 * the leg it is the snapshot and the end. At the very beginning it is nothing: the rest begins with RUN_STARTED itself; a client
 * that may hold less or more than the thread before the leg is given the snapshot by reopening behind `run.started`.
 *
 * The leg's tool results are said again as events: a snapshot only appends what the client does not hold, and a result stands
 * behind its call.
 *
 * **Contract:** go on with `replay.state`. The messages come out as those of a client that was never away, whether this one is
 * new, holds the thread up to the leg, or was there until the cursor.
 */
export function reopenAgUi({ state, messages, results }: AgUiReplay, deliverySeq?: number): readonly string[] {
  if (state.run === null) return [];
  const metadata = deliverySeq === undefined ? {} : { metadata: { deliverySeq } };
  const again = behindTheirCalls(results, messages);
  const later = new Set(again.map(({ messageId }) => messageId));
  const opening: AgUiEvent[] = [
    { type: 'RUN_STARTED', ...state.run, protocolVersion: AG_UI_VERSION, ...metadata },
    { type: 'MESSAGES_SNAPSHOT', messages: messages.filter(({ id }) => !later.has(id)), ...metadata },
    ...activeSubagents(state),
    ...again,
  ];
  const rest = state.terminal === null ? openAgain(state) : [state.terminal];
  return [...opening, ...rest].map((event) => agUiFrame(event));
}

/** Those whose call is in the conversation. A result without one (of a leg that is not here) stands where it came. */
function behindTheirCalls(results: readonly ToolResult[], messages: readonly AgUiMessage[]): readonly ToolResult[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  const known = new Set(calls.map(({ id }) => id));
  return results.filter(({ toolCallId }) => known.has(toolCallId));
}

function activeSubagents({ subagents }: AgUiState): AgUiBody[] {
  return Object.values(subagents).flatMap(({ isActive, start }) => (isActive ? [start] : []));
}

/** Without metadata: an opener's would change the message that the snapshot has just set. */
function openAgain({ namespace, texts, reasonings, calls }: AgUiState): AgUiBody[] {
  return [
    ...(namespace.length === 0 ? [] : [namespaceContext(namespace)]),
    ...texts.map((open): AgUiBody => ({ type: 'TEXT_MESSAGE_START', role: 'assistant', ...open })),
    ...reasonings.flatMap((open): AgUiBody[] => [
      { type: 'REASONING_START', ...open },
      { type: 'REASONING_MESSAGE_START', role: 'reasoning', ...open },
    ]),
    ...Object.values(calls).map(({ start }) => start),
  ];
}

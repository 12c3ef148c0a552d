import type { LifecycleEvent } from '../lifecycle.ts';
import type { AgUiBody, AgUiEvent, AgUiInterrupt, AgUiTokenUsage } from './ag-ui-events.ts';
import type { ArgumentText } from './lifecycle-arguments.ts';
import { find, type Table } from './lifecycle-table.ts';

/** What a leg has open, and what its end will need: plain JSON. */
export interface AgUiState {
  readonly run: { readonly threadId: string; readonly runId: string } | null;
  /** The namespace that the client is in: the last that was said. */
  readonly namespace: readonly string[];
  /** Open text and reasoning by wire id, oldest first. */
  readonly texts: readonly OpenBlock[];
  readonly reasonings: readonly OpenBlock[];
  /** Wire ids of the latest text messages that each active agent began, by the path of its namespace. */
  readonly recent: Table<readonly string[]>;
  /** Calls whose arguments are not known to be whole, by lifecycle id. */
  readonly calls: Table<OpenCall>;
  /** Calls without a result, by lifecycle id; those of an earlier leg among them. */
  readonly unanswered: Table<true>;
  /** The latest sub-agent of each namespace, by path. */
  readonly subagents: Table<Subagent>;
  /** The ids that sub-agents of this leg have. */
  readonly subagentIds: Table<true>;
  /** Tokens so far, by the path of each namespace. */
  readonly usage: Table<AgUiTokenUsage>;
  readonly interrupts: readonly AgUiInterrupt[];
  /** The end of the leg, once it was said. */
  readonly terminal: AgUiEvent | null;
}

export interface OpenBlock {
  readonly messageId: string;
  readonly subagentRunId?: string;
}

export interface OpenCall {
  readonly start: Extract<AgUiBody, { type: 'TOOL_CALL_START' }>;
  readonly arguments: ArgumentText;
}

export interface Subagent {
  readonly start: Extract<AgUiBody, { type: 'SUBAGENT_STARTED' }>;
  readonly agentId: string;
  readonly isActive: boolean;
}

/**
 * Where a leg begins. `unanswered` are the calls that the leg before left without a result: a stream of this leg starts them
 * again (lifecycle rule 6), but a client has them and would append their arguments a second time.
 */
export function initialAgUi(unanswered: readonly string[] = []): AgUiState {
  return {
    ...{ run: null, namespace: [], texts: [], reasonings: [], recent: {}, calls: {} },
    unanswered: Object.fromEntries(unanswered.map((id) => [id, true])),
    ...{ subagents: {}, subagentIds: {}, usage: {}, interrupts: [], terminal: null },
  };
}

/** An event before its stamp, with what it says beside the cursor. */
export type AgUiWord = AgUiBody & Pick<AgUiEvent, 'metadata'>;

/** What one lifecycle event comes to: words, and the state after them. */
export interface AgUiSaid {
  readonly state: AgUiState;
  readonly words: readonly AgUiWord[];
}

export function say(state: AgUiState, ...words: AgUiWord[]): AgUiSaid {
  return { state, words };
}

/** Words of the event's own namespace: the client is told first when that is another one. */
export function sayFrom(state: AgUiState, { namespace }: LifecycleEvent, ...words: AgUiWord[]): AgUiSaid {
  if (isSamePath(namespace, state.namespace)) return { state, words };
  return { state: { ...state, namespace }, words: [namespaceContext(namespace), ...words] };
}

export function namespaceContext(namespace: readonly string[]): AgUiWord {
  return { type: 'CUSTOM', name: 'NAMESPACE_CONTEXT', value: { namespace } };
}

/** The tag of what a namespace's agent opens: none for the root, nor for a sub-agent that was not announced. */
export function attribution({ subagents }: AgUiState, namespace: readonly string[]): { subagentRunId?: string } {
  if (namespace.length === 0) return {};
  const subagent = find(subagents, pathKey(namespace));
  return subagent === undefined ? {} : { subagentRunId: subagent.start.subagentRunId };
}

/** One string for a path; no two paths share it. */
export function pathKey(namespace: readonly string[]): string {
  return JSON.stringify(namespace);
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, i) => element === b[i]);
}

/**
 * Wire ids. Every kind of message shares one id space in a client, and an id that was used for another kind would append to
 * it: lifecycle ids are unique within their kind only. A text message keeps its own id.
 */
export const wireId = {
  text: (messageId: string) => (/^(?:text|reasoning|result|call):/.test(messageId) ? `text:${messageId}` : messageId),
  reasoning: (messageId: string) => `reasoning:${messageId}`,
  /** The message that holds a call's result. */
  result: (toolCallId: string) => `result:${toolCallId}`,
  /** The message that carries a call that no text message carries. */
  call: (toolCallId: string) => `call:${toolCallId}`,
} as const;

import { NO_ENTRIES, type ChunkedMap } from './lifecycle-chunked-map.ts';
import type { LifecycleEnvelope, TerminalType } from './lifecycle.ts';

/** Where a stream stands: the columns of the transition table. */
export type LifecyclePhase = 'awaiting-start' | 'running' | 'interrupting' | 'ended';

/** Who looks: what may be demanded of an event depends on it (`docs/lifecycle.md`, "Three audiences"). */
export type LifecycleAudience =
  /** An adapter's own events, as it yields them: nothing is committed yet. */
  | 'adapter'
  /** The boundary that publishes: knows what was committed, and demands it. */
  | 'coordinator'
  /** A reader of a published stream: checks all that the stream itself can show. */
  | 'public';

export type RuleNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15;

/** Why an event is refused: the number of the rule and a sentence that never quotes the event. */
export interface Refusal {
  readonly ok: false;
  readonly rule: RuleNumber;
  readonly reason: string;
}

export function refuse(rule: RuleNumber, reason: string): Refusal {
  return { ok: false, rule, reason };
}

/** What the coordinator has committed for a pause: the interrupt and the state to go on from (rule 14). */
export interface CommittedPause {
  readonly interrupt_id: string;
  readonly durable_revision: number;
  readonly head_ref: string;
}

/** Something open that belongs to a namespace. */
export interface Opened {
  readonly id: string;
  readonly namespace: readonly string[];
}

export interface OpenTool extends Opened {
  /** Characters of arguments so far. */
  readonly argumentChars: number;
  /** The arguments were given whole at the start; none may follow. */
  readonly isWhole: boolean;
}

export interface OpenNamespace {
  readonly path: readonly string[];
  readonly agentId: string;
  readonly parentToolCallId: string;
}

/** A block or tool that has ended; a tool's namespace is kept, since a delegation may outlive its call. */
export interface Closed {
  readonly fate: 'finished' | 'error';
  readonly namespace: string;
}

/** Everything that the 15 rules need to know of a stream so far: plain JSON. */
export interface LifecycleState {
  readonly phase: LifecyclePhase;
  readonly run: Pick<LifecycleEnvelope, 'run_id' | 'conversation_id'> | null;
  /** The last sequence, -1 before the first event. */
  readonly sequence: number;
  readonly terminal: TerminalType | null;
  readonly interrupt: { readonly id: string; readonly type: 'form_input' | 'tool_approval' } | null;
  /** Open text and reasoning, by `blockKey`. */
  readonly blocks: Readonly<Record<string, Opened>>;
  /** Open tool calls, by `toolKey`. */
  readonly tools: Readonly<Record<string, OpenTool>>;
  /** Active namespaces, by `namespaceKey`. */
  readonly namespaces: Readonly<Record<string, OpenNamespace>>;
  readonly closed: ChunkedMap<Closed>;
  readonly counts: {
    readonly events: number;
    readonly textChars: number;
    readonly blocks: number;
    readonly tools: number;
    readonly warnings: number;
  };
}

export const initialLifecycleState: LifecycleState = {
  phase: 'awaiting-start',
  run: null,
  sequence: -1,
  terminal: null,
  interrupt: null,
  blocks: {},
  tools: {},
  namespaces: {},
  closed: NO_ENTRIES,
  counts: { events: 0, textChars: 0, blocks: 0, tools: 0, warnings: 0 },
};

// Keys have a prefix, so that an id like `__proto__` is an id like any other. Ids hold no line break.
export function blockKey(family: 'text' | 'reasoning', messageId: string): string {
  return `${family}:${messageId}`;
}

export function toolKey(toolCallId: string): string {
  return `tool:${toolCallId}`;
}

export function namespaceKey(path: readonly string[]): string {
  return path.length === 0 ? '' : `/${path.join('\n')}`;
}

export function without<Value>(record: Readonly<Record<string, Value>>, key: string): Record<string, Value> {
  const rest = { ...record };
  delete rest[key];
  return rest;
}

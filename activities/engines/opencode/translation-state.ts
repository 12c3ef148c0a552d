import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, Translated } from '../../../contract/translation.ts';
import type { BoundedTable } from '../bounded-table.ts';

/** What the translator remembers from frame to frame: plain JSON. */
export interface OpencodeState {
  /** The run's own session; another one that was begun in it is a sub-agent's. */
  readonly sessionId: string | null;
  /** Where it works. */
  readonly directory: string | null;
  readonly title: string;
  /** The agent and the model that were said last. */
  readonly mode: string;
  /** Texts of all sessions, by part. */
  readonly texts: BoundedTable<TextPart>;
  readonly tools: BoundedTable<ToolCall>;
  /** The sub-agents, by their session. */
  readonly children: BoundedTable<Child>;
  /** Messages that are no answer of the agent: what it was told, and what it is to remember. */
  readonly unshownMessages: readonly string[];
  readonly usage: Usage;
  /** Model calls that were counted, by the part that ended them. */
  readonly counted: readonly string[];
  /** Paths whose change was said in this turn. */
  readonly changedPaths: readonly string[];
  /** Paths that something has changed, which no tool has told of yet. */
  readonly unsaidPaths: readonly string[];
}

export interface TextPart {
  readonly sessionId: string;
  readonly kind: 'message' | 'reasoning';
  readonly chars: number;
  readonly isClosed: boolean;
}

export interface ToolCall {
  readonly sessionId: string;
  readonly name: string;
  readonly callId: string;
  /** The hash of what was said of its input; null before it was started. */
  readonly input: string | null;
  readonly isDone: boolean;
}

export interface Child {
  readonly parentId: string;
  readonly title: string;
  readonly role: string;
  /** `held`: it is known, and said when its launch is known too, or when it speaks. */
  readonly phase: 'held' | 'open' | 'done';
  readonly lastText: string;
  readonly fault: string | null;
  readonly usage: Usage;
}

export type Usage = Readonly<{
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  costUsd: number;
}>;

export const NO_USAGE: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 };

export const TABLE_LIMITS = { texts: 100, tools: 200, children: 100, messages: 200, counted: 100, paths: 500 } as const;

export const INITIAL_OPENCODE_STATE: OpencodeState = {
  sessionId: null,
  directory: null,
  title: '',
  mode: '',
  texts: [],
  tools: [],
  children: [],
  unshownMessages: [],
  usage: NO_USAGE,
  counted: [],
  changedPaths: [],
  unsaidPaths: [],
};

/** Whose frame it is. */
export interface Speaker {
  readonly sessionId: string;
  readonly isChild: boolean;
}

export interface Step {
  readonly state: OpencodeState;
  readonly said: Translated | undefined;
}

/** A list with this as its newest, without the oldest beyond `limit`. */
export function withLast<T>(list: readonly T[], item: T, limit: number): readonly T[] {
  return [...list.filter((other) => other !== item), item].slice(-limit);
}

export function quiet(state: OpencodeState, suppressed: string): Step {
  return { state, said: { suppressed } };
}

export function unknown(state: OpencodeState): Step {
  return { state, said: undefined };
}

export function saying(
  state: OpencodeState,
  bodies: readonly CanonicalBody[],
  { why = 'nothing new', native }: { why?: string; native?: NonNullable<Emission['native']> } = {},
): Step {
  if (bodies.length === 0) return quiet(state, why);
  return { state, said: bodies.map((body): Emission => (native === undefined ? { body } : { body, native })) };
}

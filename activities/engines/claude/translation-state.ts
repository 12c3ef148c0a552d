import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, Translated } from '../../../contract/translation.ts';

/** What the translator remembers from frame to frame: plain JSON. Tables are keyed by `keyOf`. */
export interface ClaudeState {
  readonly sessionId: string | null;
  /** The workspace, by the program's own word. */
  readonly cwd: string | null;
  readonly mode: string | null;
  readonly model: string | null;
  /** The answer of the model that each speaker is giving, or gave last. */
  readonly answers: Readonly<Record<string, ModelAnswer>>;
  /** Sub-agents that were said, by the call that launched each. */
  readonly children: Readonly<Record<string, { readonly isRunning: boolean }>>;
  /** The sub-agent that a task is. */
  readonly tasks: Readonly<Record<string, string>>;
  readonly plan: readonly PlanEntry[];
  /** Entries that a call is to give another text, until it has ended. */
  readonly renamed: Readonly<Record<string, string>>;
  /** What the rounds that are over have used, and what this one has so far. */
  readonly used: Used;
  readonly round: Used;
  /** Whether this round has said something. */
  readonly hasText: boolean;
}

/** An answer of the model is told twice, piece by piece and whole, block by block. */
export interface ModelAnswer {
  readonly messageId: string;
  readonly blocks: readonly TextBlock[];
  /** Of the prompt: known with its beginning, counted with its end. */
  readonly prompt: Used;
}

export interface TextBlock {
  readonly index: number | null;
  readonly kind: 'message' | 'reasoning';
  readonly id: string;
  readonly chars: number;
  readonly isOpen: boolean;
  /** It was told whole, too. */
  readonly isWhole: boolean;
}

export type PlanEntry = CanonicalBody<'plan.updated'>['entries'][number];

export interface Used {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
}

export const NOTHING_USED: Used = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: null };

export const INITIAL_CLAUDE_STATE: ClaudeState = {
  sessionId: null,
  cwd: null,
  mode: null,
  model: null,
  answers: {},
  children: {},
  tasks: {},
  plan: [],
  renamed: {},
  used: NOTHING_USED,
  round: NOTHING_USED,
  hasText: false,
};

export interface Step {
  readonly state: ClaudeState;
  readonly said: Translated | undefined;
}

/** Bodies with the state behind them, for what is said together with something else. */
export interface Saying {
  readonly state: ClaudeState;
  readonly bodies: readonly CanonicalBody[];
}

/** Whose frame it is: the run's own agent, or a sub-agent by the call that launched it. */
export interface Speaker {
  readonly childId: string | null;
}

const REMEMBERED = 200;

/** Ids come from outside: no record is keyed by a bare one. */
export function keyOf(id: string): string {
  return `#${id}`;
}

/** A table with an entry, which forgets its oldest where it has too many. */
export function withEntry<T>(table: Readonly<Record<string, T>>, id: string, value: T): Readonly<Record<string, T>> {
  const { [keyOf(id)]: _before, ...others } = table;
  const entries = [...Object.entries(others), [keyOf(id), value] as const];
  return Object.fromEntries(entries.slice(-REMEMBERED));
}

export function without<T>(table: Readonly<Record<string, T>>, id: string): Readonly<Record<string, T>> {
  const { [keyOf(id)]: _removed, ...others } = table;
  return others;
}

export function quiet(state: ClaudeState, suppressed: string): Step {
  return { state, said: { suppressed } };
}

export function saying(state: ClaudeState, bodies: readonly CanonicalBody[], why = 'nothing new'): Step {
  return { state, said: bodies.length === 0 ? { suppressed: why } : bodies.map((body): Emission => ({ body })) };
}

/** A frame of a known type that cannot be read: told as unmapped. */
export function unread(state: ClaudeState): Step {
  return { state, said: undefined };
}

import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, Translated } from '../../../contract/translation.ts';
import type { Tokens } from './codex-schema.ts';

/** What the translator remembers from frame to frame: plain JSON. */
export interface CodexState {
  /** The run's own thread; another one on the same connection is a sub-agent's. */
  readonly threadId: string | null;
  /** The turn that runs in it. */
  readonly turnId: string | null;
  /** The turn that ended last: what still comes of it is late. */
  readonly endedTurnId: string | null;
  /** Open messages and reasoning of all threads, by item. */
  readonly texts: Readonly<Record<string, OpenText>>;
  /** Items whose text a retry cut off: what comes under their id again is another message. */
  readonly cutOff: readonly string[];
  readonly retries: number;
  readonly children: Children;
  /** What the thread had used before this turn. */
  readonly usedBefore: Tokens | null;
  /** Paths whose change was said in this turn. */
  readonly changedPaths: readonly string[];
}

/** Sub-agents that were said, and the last message of each. */
export type Children = Readonly<Record<string, { readonly lastText: string }>>;

export interface OpenText {
  readonly threadId: string;
  readonly messageId: string;
  readonly kind: 'message' | 'reasoning';
  readonly chars: number;
  /** Of reasoning: whether its summary or its raw text is shown; the two say the same. */
  readonly source: string;
  readonly part: number;
}

export const INITIAL_CODEX_STATE: CodexState = {
  threadId: null,
  turnId: null,
  endedTurnId: null,
  texts: {},
  cutOff: [],
  retries: 0,
  children: {},
  usedBefore: null,
  changedPaths: [],
};

export interface Step {
  readonly state: CodexState;
  readonly said: Translated | undefined;
}

/** Whose frame it is. */
export interface Speaker {
  readonly threadId: string;
  readonly isChild: boolean;
}

/** The last of a growing list. */
export function lastOf<T>(list: readonly T[], limit: number): readonly T[] {
  return list.length <= limit ? list : list.slice(list.length - limit);
}

export function quiet(state: CodexState, suppressed: string): Step {
  return { state, said: { suppressed } };
}

export function saying(state: CodexState, bodies: readonly CanonicalBody[], why = 'nothing new'): Step {
  return { state, said: bodies.length === 0 ? { suppressed: why } : bodies.map((body): Emission => ({ body })) };
}

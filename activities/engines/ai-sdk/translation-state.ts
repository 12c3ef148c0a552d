import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, Translated } from '../../../contract/translation.ts';
import type { BoundedTable } from '../acp/bounded-table.ts';

/** What the translator remembers from frame to frame: plain JSON. */
export interface AiSdkState {
  /** How many blocks of text and reasoning there were: the library's ids come again in each model call. */
  readonly blocks: number;
  /** Blocks that are open, by their kind and the library's id. */
  readonly texts: BoundedTable<OpenText>;
  /** Tool calls that have no result yet. */
  readonly calls: BoundedTable<OpenCall>;
  /** Tool calls that ended, the newest last. */
  readonly ended: readonly string[];
  /** How often a call came under the id of one that had ended. */
  readonly repeats: number;
  /** The tool call that an approval is asked for. */
  readonly approvals: BoundedTable<string>;
  /** What the run used so far. */
  readonly used: Tokens;
  /** The model that answered last. */
  readonly model: string | null;
  /** Warnings of a model that were said: they come again with each call. */
  readonly warned: readonly string[];
  /** The run was asked to stop. */
  readonly isCancelled: boolean;
}

export interface OpenText {
  readonly messageId: string;
  readonly kind: 'message' | 'reasoning';
  /** A piece of it was said. */
  readonly hasText: boolean;
}

export interface OpenCall {
  /** The id under which it is said: the library's own, unless that was another call's before. */
  readonly shownId: string;
  /** The call is a sub-agent's work, and that was said. */
  readonly isChild: boolean;
}

export interface Tokens {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
}

export const TABLE_LIMITS = { texts: 50, calls: 200, approvals: 200, warned: 50 } as const;

export const INITIAL_AI_SDK_STATE: AiSdkState = {
  blocks: 0,
  texts: [],
  calls: [],
  ended: [],
  repeats: 0,
  approvals: [],
  used: {},
  model: null,
  warned: [],
  isCancelled: false,
};

export interface Step {
  readonly state: AiSdkState;
  readonly said: Translated | undefined;
}

export function quiet(state: AiSdkState, suppressed: string): Step {
  return { state, said: { suppressed } };
}

/** What the dialect does not know, or cannot read. */
export function unknown(state: AiSdkState): Step {
  return { state, said: undefined };
}

export function saying(state: AiSdkState, bodies: readonly CanonicalBody[], why = 'nothing new'): Step {
  return { state, said: bodies.length === 0 ? { suppressed: why } : bodies.map((body): Emission => ({ body })) };
}

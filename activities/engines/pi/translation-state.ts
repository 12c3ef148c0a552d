import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, Translated } from '../../../contract/translation.ts';

/** What the translator remembers from frame to frame: plain JSON. */
export interface PiState {
  /** Messages of the model that have begun: pi gives them no ids, so their number is one. */
  readonly messages: number;
  /** The text blocks of the last of them, by their place in it. */
  readonly blocks: Readonly<Record<string, Block>>;
  /** Tool calls of that message, of which none runs before it is whole. */
  readonly calls: readonly string[];
  /** Tools at work, by `keyOf` their call. */
  readonly tools: Readonly<Record<string, { readonly path: string }>>;
  /** Prompts of which pi has not said yet that its model is told. */
  readonly prompts: number;
  /** Inputs that were taken beside the prompts. */
  readonly inputs: number;
  /** The beginnings of inputs that wait for the run's natural stop. */
  readonly followUps: readonly string[];
  readonly used: Used;
}

export interface Block {
  readonly kind: 'message' | 'reasoning';
  readonly messageId: string;
  readonly stage: 'begun' | 'shown' | 'ended';
  /** How often it was gone on with after its end. */
  readonly sequels: number;
}

/** What the run has used so far. */
export interface Used {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export const INITIAL_PI_STATE: PiState = {
  messages: 0,
  blocks: {},
  calls: [],
  tools: {},
  prompts: 0,
  inputs: 0,
  followUps: [],
  used: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 },
};

export interface Step {
  readonly state: PiState;
  readonly said: Translated | undefined;
}

export function quiet(state: PiState, suppressed: string): Step {
  return { state, said: { suppressed } };
}

export function saying(state: PiState, bodies: readonly CanonicalBody[], why = 'nothing new'): Step {
  return { state, said: bodies.length === 0 ? { suppressed: why } : bodies.map((body): Emission => ({ body })) };
}

/** For a frame that is not what its type has. */
export function unread(state: PiState): Step {
  return { state, said: undefined };
}

/** Ids come from outside: no record is keyed by a bare one. */
export function keyOf(id: string): string {
  return `#${id}`;
}

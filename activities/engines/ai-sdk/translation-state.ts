import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, Translated } from '../../../contract/translation.ts';
import type { BoundedTable } from '../bounded-table.ts';
import { NO_CALLS, type ToolCalls } from '../hosted/open-calls.ts';
import { NO_TEXTS, type OpenTexts } from '../hosted/open-texts.ts';
import type { Tokens } from '../hosted/tokens.ts';

/** What the translator remembers from frame to frame: plain JSON. */
export interface AiSdkState {
  readonly texts: OpenTexts;
  readonly calls: ToolCalls;
  /** Open calls that are a sub-agent's work, by the library's id. */
  readonly children: readonly string[];
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

export const INITIAL_AI_SDK_STATE: AiSdkState = {
  texts: NO_TEXTS,
  calls: NO_CALLS,
  children: [],
  approvals: [],
  used: {},
  model: null,
  warned: [],
  isCancelled: false,
};

/** A change of the state, and what is said with it. */
export interface Change {
  readonly state: AiSdkState;
  readonly bodies: CanonicalBody[];
}

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

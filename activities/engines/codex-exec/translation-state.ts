import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Translated } from '../../../contract/translation.ts';
import type { Children } from '../codex/translation-state.ts';

/** What the translator remembers from frame to frame: plain JSON. */
export interface ExecState {
  /** Whether the thread had turns before this run; null before the first process. */
  readonly isEarlier: boolean | null;
  /** Sub-agents that were said. */
  readonly children: Children;
  /** The plan as it was said last, as JSON. */
  readonly plan: string;
  /** The warning of the last failure that was tried again after. */
  readonly lastRetry: string;
}

export const INITIAL_EXEC_STATE: ExecState = { isEarlier: null, children: {}, plan: '', lastRetry: '' };

export interface Step {
  readonly state: ExecState;
  readonly said: Translated | undefined;
}

export function quiet(state: ExecState, suppressed: string): Step {
  return { state, said: { suppressed } };
}

export function saying(state: ExecState, bodies: readonly CanonicalBody[]): Step {
  return { state, said: bodies.map((body) => ({ body })) };
}

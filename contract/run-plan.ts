import type { ErrorCode } from './errors.ts';

/** What a model step came to; ids, counts and enums only, since it stands in the workflow's history. */
export type ModelTurn =
  | { readonly outcome: 'final'; readonly stopReason: string }
  | { readonly outcome: 'tools'; readonly calls: number }
  /** The model had ended, but input waits: the next step is a model call again. */
  | { readonly outcome: 'continue' }
  | { readonly outcome: 'cancelled' };

/** One tool call of a model step, as the gate sees it now. The step of the n-th call is the model step + 1 + n. */
export interface GatedCall {
  readonly stepIndex: number;
  readonly toolName: string;
  /** `run`: may run now. `ask`: waits for a person. `answered`: has its answer without being run. */
  readonly state: 'run' | 'ask' | 'answered';
  readonly parallelSafe: boolean;
  /** A sub-agent does it: a workflow of its own. */
  readonly delegates?: true;
}

export interface GatePlan {
  readonly calls: readonly GatedCall[];
  /** Ids of the interrupts that are still open. */
  readonly pending: readonly string[];
  /** Milliseconds until the next of them expires; null when none will. */
  readonly expiresInMs: number | null;
}

export interface ToolTurn {
  readonly outcome: 'done' | 'cancelled';
}

/** What became of a call that delegates: `refused` has its answer, `done` had it before. */
export interface Delegation {
  readonly state: 'opened' | 'refused' | 'done' | 'cancelled';
}

/** What a turn of an engine with its own loop came to. `parked`: it waits for a person, without a process. */
export type DrivenTurn =
  | { readonly outcome: 'completed'; readonly stopReason: string }
  | { readonly outcome: 'cancelled' | 'parked' }
  | { readonly outcome: 'failed'; readonly code: ErrorCode };

/** How a run ends; the words of an error are in Postgres, its code is here. */
export type Ending =
  | { readonly status: 'completed'; readonly stopReason: string }
  | { readonly status: 'failed'; readonly stopReason: 'cancelled' }
  | { readonly status: 'failed'; readonly stopReason: 'error'; readonly code: ErrorCode };

export interface Settled {
  readonly status: 'completed' | 'failed';
  readonly stopReason: string;
  /** The run that has the turn now and must be woken; null when none waits. */
  readonly nextRunId: string | null;
  /** Frames in the sealed lane: a large one is canonicalized in an activity of its own. */
  readonly frames: number;
}

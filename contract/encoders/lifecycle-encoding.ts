import type { LifecycleEvent } from '../lifecycle.ts';

/** What an encoder needs beside the event. */
export interface LegContext {
  /** The root agent's name, as a person reads it. A sub-agent's is learned when its namespace is entered. */
  readonly agentName: string;
  /** The delivery that the event was projected from. */
  readonly deliverySeq?: number;
  /** Ids to show in AG-UI in place of the envelope's: a stream that answers a `RunAgentInput` echoes the ids of that. */
  readonly threadId?: string;
  readonly runId?: string;
}

export interface Encoded<State> {
  readonly state: State;
  /** Ready SSE text, one frame each; often none. */
  readonly frames: readonly string[];
}

/**
 * Turns the lifecycle events of one leg into the frames of one encoding.
 *
 * **Contract:** pure, and state is plain JSON: the same events give the same bytes live, on replay and after a restart. The
 * events must be legal (lifecycle-machine.ts); the order of a legal stream is then legal in the encoding too. No content can
 * end a frame: all data is JSON on one line.
 */
export interface LegEncoder<State> {
  readonly initial: State;
  readonly encode: (state: State, event: LifecycleEvent, context: LegContext) => Encoded<State>;
}

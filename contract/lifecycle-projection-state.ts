import type { DeliveredEvent } from './canonical.ts';
import { NO_ENTRIES, type ChunkedMap } from './lifecycle-chunked-map.ts';
import type { LifecycleData, LifecycleType } from './lifecycle.ts';
import { initialLifecycleState, type LifecycleState, type RuleNumber } from './lifecycle-state.ts';
import type { TextHash } from './lifecycle-text-hash.ts';

/** The run whose log is projected. All of it is fixed when the run is accepted, so a replay has the same. */
export interface ProjectedRun {
  readonly runId: string;
  readonly threadId: string;
  /** The engine's name: `harness_id`, and the root agent's id. */
  readonly engine: string;
}

/** What was shown of a block, by length and hash: enough to see whether a final text goes on from it. */
export interface Shown {
  readonly chars: number;
  readonly hash: TextHash;
}

/** A text or reasoning block that is open in this leg. */
export interface ProjectedBlock extends Shown {
  readonly family: 'text' | 'reasoning';
  readonly id: string;
  readonly namespace: readonly string[];
  /** The first half of a surrogate pair whose second half has not come yet. */
  readonly carry: string;
}

/** A tool call without a result yet; kept over a pause and announced again in the next leg. */
export interface ProjectedTool {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly namespace: readonly string[];
  /** How a person decided about it, if one was asked. */
  readonly decision?: string;
}

/** A sub-agent that is at work. */
export interface ProjectedChild {
  readonly id: string;
  readonly name: string;
  /** Its namespace; that of its parent where it could not get one of its own (rule 11). */
  readonly path: readonly string[];
  readonly hasNamespace: boolean;
  /** The delegation call, as a key of `tools`; one of our own where the engine named none. */
  readonly call: string;
}

/** An approval or question that a person has not answered yet. */
export interface PendingInterrupt {
  readonly kind: 'approval' | 'question';
  /** The id by which REST takes the answer. */
  readonly interruptId: string;
  readonly agentId: string;
  readonly namespace: readonly string[];
  /** The gated call, as a key of `tools` and as lifecycle says it. */
  readonly tool: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly prompt: string;
  readonly options: readonly string[];
  readonly questions: readonly AskedQuestion[];
}

export interface AskedQuestion {
  readonly prompt: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
  /** The key of its value, where the engine gave one. */
  readonly name?: string;
}

/** How often a canonical id was begun, and whether the log has taken back what was said under it last. */
export interface Used {
  readonly turn: number;
  readonly isWithdrawn: boolean;
}

/** The projection after an event: plain JSON, bounded by what is open, and the ids that were used. */
export interface ProjectionState {
  readonly run: ProjectedRun;
  readonly phase: 'before' | 'open' | 'paused' | 'ended';
  /** Of the latest leg; 0 before the first. */
  readonly leg: number;
  /** The latest timestamp: a stream's time never goes back. */
  readonly ms: number;
  readonly stream: LifecycleState;
  readonly blocks: Readonly<Record<string, ProjectedBlock>>;
  /** Blocks that a pause closed before the log did: they go on in the next leg where they stopped. */
  readonly suspended: Readonly<Record<string, Shown>>;
  /** Blocks that were closed because their sub-agent left; the rest of them is dropped. */
  readonly orphans: Readonly<Record<string, true>>;
  readonly tools: Readonly<Record<string, ProjectedTool>>;
  readonly children: Readonly<Record<string, ProjectedChild>>;
  readonly used: ChunkedMap<Used>;
  readonly pending: readonly PendingInterrupt[];
  /** The interrupts that the pause waits for. */
  readonly awaited: readonly string[];
  /** What the log says while the run is paused: the beginning of the next leg. */
  readonly held: readonly DeliveredEvent[];
  readonly committed: { readonly revision: number; readonly headRef: string } | null;
  readonly fault: { readonly code: string; readonly message: string } | null;
  readonly effects: LifecycleData<'run.error'>['side_effect_status'];
  /** A limit of lifecycle v1 was reached in this leg, and the reader was told. */
  readonly isLimited: boolean;
  /** The event that did not pass; the run's streams end with it. Null as long as the log and this projection are sound. */
  readonly refusal: StreamRefusal | null;
}

/** An event that the boundary did not let through: what may be logged and shown of it, and nothing that it held. */
export interface StreamRefusal {
  /** Null: it was no event of lifecycle v1. */
  readonly rule: RuleNumber | null;
  readonly reason: string;
  readonly type: LifecycleType;
}

export function initialProjection(run: ProjectedRun): ProjectionState {
  return {
    run,
    phase: 'before',
    leg: 0,
    ms: 0,
    stream: initialLifecycleState,
    blocks: {},
    suspended: {},
    orphans: {},
    tools: {},
    children: {},
    used: NO_ENTRIES,
    pending: [],
    awaited: [],
    held: [],
    committed: null,
    fault: null,
    effects: 'none',
    isLimited: false,
    refusal: null,
  };
}

/** The id of a leg's stream: the run's own, then `<runId>.2`, `<runId>.3`, … */
export function legRunId(runId: string, leg: number): string {
  return leg <= 1 ? runId : `${runId}.${String(leg)}`;
}

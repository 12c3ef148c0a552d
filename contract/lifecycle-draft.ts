import type { DeliveredEvent } from './canonical.ts';
import { lookUp, withEntry } from './lifecycle-chunked-map.ts';
import type { Said } from './lifecycle-closing.ts';
import { createLifecycleMachine } from './lifecycle-machine.ts';
import {
  legRunId,
  type ProjectedChild,
  type ProjectionState,
  type StreamRefusal,
} from './lifecycle-projection-state.ts';
import * as limit from './lifecycle-limits.ts';
import { CLOSING_TYPES } from './lifecycle-rules.ts';
import { namespaceKey, refuse, type CommittedPause } from './lifecycle-state.ts';
import { validateLifecycleEvent } from './lifecycle-validate.ts';
import { idOfTurn, lifecycleId, timestamp } from './lifecycle-values.ts';
import { LIFECYCLE_VERSION, type LifecycleBody, type LifecycleEvent } from './lifecycle.ts';

/** One call of `project` at work: the state as it will be and the events so far. Values inside the state are never changed. */
export interface Draft {
  state: ProjectionState;
  readonly events: LifecycleEvent[];
}

const LIMIT_CODE = 'stream_limit';
const machine = createLifecycleMachine({ audience: 'coordinator', ephemeral: false });

/**
 * Says one event of the current leg.
 *
 * **Contract:** what the schema or the machine refuses is not said: false, and `state.refusal` has why, for `project` to end the
 * stream. So every projected stream is legal. A run that passes a limit of lifecycle v1 is cut there, and its reader is told once.
 */
export function say(draft: Draft, { namespace, body }: Said, pause: CommittedPause | null = null): boolean {
  const { state } = draft;
  const event = {
    version: LIFECYCLE_VERSION,
    type: body.type,
    run_id: lifecycleId(legRunId(state.run.runId, state.leg)),
    conversation_id: lifecycleId(state.run.threadId),
    sequence: state.stream.sequence + 1,
    timestamp: timestamp(state.ms),
    namespace,
    data: body.data,
  } as LifecycleEvent;
  const valid = validateLifecycleEvent(event);
  if (!valid.ok) return refused(draft, body, valid);
  const advanced = isLastOfItsKind(state, body) ? LAST : machine.advance(state.stream, event, pause);
  if (advanced.ok) {
    draft.state = { ...state, stream: advanced.state };
    draft.events.push(event);
    return true;
  }
  if (advanced.rule !== 11) return refused(draft, body, advanced);
  if (!state.isLimited) {
    draft.state = { ...state, isLimited: true };
    const message = 'this run is longer than lifecycle v1 allows; the rest of it is in the canonical stream';
    say(draft, root({ type: 'warning', data: { code: LIMIT_CODE, message } }));
  }
  return false;
}

/** Only the first is kept: what follows it may be its consequence. */
function refused(draft: Draft, { type }: LifecycleBody, why: Pick<StreamRefusal, 'rule' | 'reason'>): false {
  const { rule, reason } = why;
  draft.state = { ...draft.state, refusal: draft.state.refusal ?? { rule, reason, type } };
  return false;
}

const LAST = refuse(11, 'the last place is kept for the warning that says so');

/** Whether this event would take the last place of those that a limit leaves, where the reader is told of the limit. */
function isLastOfItsKind({ stream: { counts } }: ProjectionState, body: LifecycleBody): boolean {
  if (body.type === 'warning') {
    if (body.data.code === LIMIT_CODE) return false;
    if (counts.warnings >= limit.WARNINGS_PER_RUN_LIMIT - 1) return true;
  }
  return counts.events >= limit.EVENTS_PER_RUN_LIMIT - 1 && !CLOSING_TYPES.has(body.type);
}

export function root(body: LifecycleBody): Said {
  return { namespace: [], body };
}

/** The id for something that starts now: a new one where the run has used it, unless this goes on with what used it. */
export function nextId({ state }: Draft, key: string, id: string, goesOn: boolean): { id: string; turn: number } {
  const last = lookUp(state.used, key)?.turn ?? 0;
  const turn = goesOn ? Math.max(1, last) : last + 1;
  return { id: idOfTurn(id, turn), turn };
}

export function markUsed(draft: Draft, key: string, turn: number): void {
  draft.state = { ...draft.state, used: withEntry(draft.state.used, key, { turn, isWithdrawn: false }) };
}

/** What was said under a key is withdrawn: its next use is something new. */
export function markWithdrawn(draft: Draft, key: string): void {
  const used = lookUp(draft.state.used, key);
  if (used === undefined) return;
  draft.state = { ...draft.state, used: withEntry(draft.state.used, key, { turn: used.turn, isWithdrawn: true }) };
}

export function childKey(childId: string): string {
  return `child:${childId}`;
}

/** The sub-agent that an event is of; undefined for the root's events. */
export function childOf({ state }: Draft, { identity }: DeliveredEvent): ProjectedChild | undefined {
  return identity.nativeSessionId === undefined ? undefined : state.children[childKey(identity.nativeSessionId)];
}

export function isActiveIn({ state }: Draft, path: readonly string[]): boolean {
  return path.length === 0 || state.stream.namespaces[namespaceKey(path)] !== undefined;
}

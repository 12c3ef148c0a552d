import type { LifecycleEvent, LifecycleEventOf, LifecycleType } from './lifecycle.ts';
import * as rules from './lifecycle-rules.ts';
import {
  initialLifecycleState,
  refuse,
  type CommittedPause,
  type LifecycleAudience,
  type LifecyclePhase,
  type LifecycleState,
  type Refusal,
} from './lifecycle-state.ts';

export type Advanced = { readonly ok: true; readonly state: LifecycleState } | Refusal;

export interface LifecycleMachine {
  readonly initial: LifecycleState;
  /**
   * Takes one event: the state after it, or the rule that it breaks. `pause` is what the coordinator committed; it is asked for
   * with `run.interrupted` only.
   */
  readonly advance: (state: LifecycleState, event: LifecycleEvent, pause?: CommittedPause | null) => Advanced;
  /** Looks at a stream that has closed: without a terminal it breaks rule 12. */
  readonly finish: (state: LifecycleState) => { readonly ok: true } | Refusal;
}

/**
 * The 15 rules of lifecycle v1 as a machine over one stream. An event must have passed `validateLifecycleEvent`.
 *
 * **Contract:** pure: no state is changed, states are plain JSON, a refused event leaves the stream where it was. A refusal has
 * the rule's number and a reason that never quotes the event.
 */
export function createLifecycleMachine(options: {
  readonly audience: LifecycleAudience;
  readonly ephemeral: boolean;
}): LifecycleMachine {
  return {
    initial: initialLifecycleState,
    advance(state, event, pause = null) {
      const next = step(state, event, { ...options, pause });
      return 'rule' in next ? next : { ok: true, state: next };
    },
    finish: ({ phase }) =>
      phase === 'ended' ? { ok: true } : refuse(12, 'the stream closed without a terminal event'),
  };
}

function step<T extends LifecycleType>(
  state: LifecycleState,
  event: LifecycleEventOf<T>,
  context: rules.RuleContext,
): LifecycleState | Refusal {
  const cell = TABLE[event.type][state.phase];
  if (typeof cell !== 'function') return cell;
  const { run } = state;
  if (run !== null && (run.run_id !== event.run_id || run.conversation_id !== event.conversation_id)) {
    return refuse(2, 'an event of another run or conversation than run.started opened');
  }
  if (event.sequence <= state.sequence) return refuse(1, 'sequence does not increase');
  const isBoundary = event.type === 'namespace.entered' || event.type === 'namespace.exited';
  if (!isBoundary && !rules.isActive(state, event.namespace)) {
    return refuse(10, 'an event of a namespace that is not active');
  }
  const counted = rules.countEvent(state, event.type);
  if ('rule' in counted) return counted;
  return cell({ ...counted, sequence: event.sequence }, event, context);
}

type Cell<T extends LifecycleType> = Refusal | rules.Rule<T>;

const EARLY = refuse(2, 'an event before run.started');
const AGAIN = refuse(2, 'run.started a second time');
const HELD = refuse(8, rules.AFTER_INTERRUPT);
const SECOND_END = refuse(3, 'a second terminal event');
const LATE = refuse(4, 'an event after the terminal event');

const openText = rules.openBlock('text');
const extendText = rules.extendBlock('text');
const closeText = rules.closeBlock('text');
const openReasoning = rules.openBlock('reasoning');
const extendReasoning = rules.extendBlock('reasoning');
const closeReasoning = rules.closeBlock('reasoning');
const finishTool = rules.closeTool('finished');
const failTool = rules.closeTool('error');

/** Every type in every phase, decided: a new type or phase does not compile until it has its cells. */
const TABLE: { readonly [T in LifecycleType]: Readonly<Record<LifecyclePhase, Cell<T>>> } = {
  'run.started': { 'awaiting-start': rules.start, running: AGAIN, interrupting: AGAIN, ended: LATE },
  'run.finished': { 'awaiting-start': EARLY, running: rules.finish, interrupting: HELD, ended: SECOND_END },
  'run.interrupted': { 'awaiting-start': EARLY, running: rules.pause, interrupting: rules.pause, ended: SECOND_END },
  'run.cancelled': { 'awaiting-start': EARLY, running: rules.cancel, interrupting: HELD, ended: SECOND_END },
  'run.error': { 'awaiting-start': EARLY, running: rules.fail, interrupting: HELD, ended: SECOND_END },
  'text.started': { 'awaiting-start': EARLY, running: openText, interrupting: HELD, ended: LATE },
  'text.delta': { 'awaiting-start': EARLY, running: extendText, interrupting: HELD, ended: LATE },
  'text.finished': { 'awaiting-start': EARLY, running: closeText, interrupting: closeText, ended: LATE },
  'reasoning.started': { 'awaiting-start': EARLY, running: openReasoning, interrupting: HELD, ended: LATE },
  'reasoning.delta': { 'awaiting-start': EARLY, running: extendReasoning, interrupting: HELD, ended: LATE },
  'reasoning.finished': { 'awaiting-start': EARLY, running: closeReasoning, interrupting: closeReasoning, ended: LATE },
  'tool.started': { 'awaiting-start': EARLY, running: rules.openTool, interrupting: HELD, ended: LATE },
  'tool.arguments.delta': { 'awaiting-start': EARLY, running: rules.extendTool, interrupting: HELD, ended: LATE },
  'tool.finished': { 'awaiting-start': EARLY, running: finishTool, interrupting: finishTool, ended: LATE },
  'tool.error': { 'awaiting-start': EARLY, running: failTool, interrupting: failTool, ended: LATE },
  'interrupt.requested': { 'awaiting-start': EARLY, running: rules.ask, interrupting: HELD, ended: LATE },
  'namespace.entered': { 'awaiting-start': EARLY, running: rules.enter, interrupting: HELD, ended: LATE },
  'namespace.exited': { 'awaiting-start': EARLY, running: rules.leave, interrupting: rules.suspend, ended: LATE },
  warning: { 'awaiting-start': EARLY, running: rules.warn, interrupting: HELD, ended: LATE },
  'usage.updated': { 'awaiting-start': EARLY, running: rules.pass, interrupting: HELD, ended: LATE },
  'provider.metadata': { 'awaiting-start': EARLY, running: rules.pass, interrupting: HELD, ended: LATE },
};

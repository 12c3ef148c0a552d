import { createLifecycleMachine } from '../../../contract/lifecycle-machine.ts';
import { refuse, type LifecycleState, type RuleNumber } from '../../../contract/lifecycle-state.ts';
import { validateLifecycleEvent } from '../../../contract/lifecycle-validate.ts';
import { LIFECYCLE_TYPES, type LifecycleEvent } from '../../../contract/lifecycle.ts';

const machine = createLifecycleMachine({ audience: 'adapter', ephemeral: false });

/** Why an adapter's stream was ended; quotes nothing of what it sent. */
export interface StreamFault {
  /** Null: what it sent is no event of lifecycle v1. */
  readonly rule: RuleNumber | null;
  readonly reason: string;
  /** A type of lifecycle v1, or `unknown`. */
  readonly eventType: string;
}

/**
 * Judges what an adapter yields, event by event: the schema, the limits, and the 15 rules as an adapter must keep them.
 *
 * **Contract:** after a fault nothing more may be given to it.
 */
export class StreamJudge {
  readonly #run: { readonly run_id: string; readonly conversation_id: string };
  #state: LifecycleState = machine.initial;

  constructor(run: { run_id: string; conversation_id: string }) {
    this.#run = run;
  }

  take(value: unknown): { readonly event: LifecycleEvent } | { readonly fault: StreamFault } {
    const valid = validateLifecycleEvent(value);
    if (!valid.ok) return { fault: { rule: valid.rule, reason: valid.reason, eventType: typeOf(value) } };
    const { event } = valid;
    const { run_id, conversation_id } = this.#run;
    const isOfRun = event.run_id === run_id && event.conversation_id === conversation_id;
    const advanced = isOfRun ? machine.advance(this.#state, event) : OF_ANOTHER_RUN;
    if (!advanced.ok) return { fault: { rule: advanced.rule, reason: advanced.reason, eventType: event.type } };
    this.#state = advanced.state;
    return { event };
  }

  /** The stream has closed: null where its terminal was its last event (rule 12). */
  finish(): StreamFault | null {
    const finished = machine.finish(this.#state);
    return finished.ok ? null : { rule: finished.rule, reason: finished.reason, eventType: 'unknown' };
  }

  get hasOpenTool(): boolean {
    return Object.keys(this.#state.tools).length > 0;
  }
}

const OF_ANOTHER_RUN = refuse(2, 'an event of another run or conversation than the one that was asked for');

function typeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return 'unknown';
  const type: unknown = Object.getOwnPropertyDescriptor(value, 'type')?.value;
  return LIFECYCLE_TYPES.find((known) => known === type) ?? 'unknown';
}

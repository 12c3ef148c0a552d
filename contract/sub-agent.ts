/**
 * Where the sub-agents of a run keep their steps. A sub-agent is named by the step of the call that delegated to it, and has a range
 * of step indexes of its own: so everything that a step says or leaves tells whose it is, and tells the same when it is repeated.
 */
const FIRST_STEP = 1_000_000;
const STEPS_EACH = 10_000;

/** Sub-agents that one run may start. */
export const SUB_AGENTS_PER_RUN = 32;
/** Model calls and tool calls of one sub-agent together; fewer where the run's own limit is lower. */
export const SUB_AGENT_MAX_STEPS = 250;

export interface StepRange {
  readonly first: number;
  readonly last: number;
}

/** The steps of the sub-agent that a step delegated to; of the run's own agent for null. */
export function stepsOf(delegatingStep: number | null): StepRange {
  if (delegatingStep === null) return { first: 0, last: FIRST_STEP - 1 };
  const first = FIRST_STEP + delegatingStep * STEPS_EACH;
  return { first, last: first + STEPS_EACH - 1 };
}

/** The step that delegated to the sub-agent whose step this is; null for a step of the run's own agent, and for no step. */
export function delegatingStepOf(stepIndex: number | null): number | null {
  return stepIndex === null || stepIndex < FIRST_STEP ? null : Math.floor((stepIndex - FIRST_STEP) / STEPS_EACH);
}

/** The id of a sub-agent: its session's in events, its workflow's in Temporal. */
export function subAgentIdOf(runId: string, delegatingStep: number): string {
  return `${runId}.c${String(delegatingStep)}`;
}

/** Who says an event, in the words of its identity. */
export interface Speaker {
  readonly nativeSessionId: string;
  readonly nativeParentSessionId: string;
}

/** A sub-agent as the speaker of events; its parent is the run's own agent, which has the run's id. */
export function subAgentSpeaker(runId: string, delegatingStep: number): Speaker {
  return { nativeSessionId: subAgentIdOf(runId, delegatingStep), nativeParentSessionId: runId };
}

/** The sub-agent that a step speaks for; null for the run's own agent. */
export function speakerOfStep(runId: string, stepIndex: number | null): Speaker | null {
  const delegatingStep = delegatingStepOf(stepIndex);
  return delegatingStep === null ? null : subAgentSpeaker(runId, delegatingStep);
}

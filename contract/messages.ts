/** The names that cross Temporal: workflow types, signals, queues, search attributes. Written once, imported everywhere. */
export const TASK_QUEUE = { engine: 'tidemark-engine', control: 'tidemark-control' } as const;

export const WORKFLOW = { agentRun: 'agentRun', subAgent: 'subAgent', sweep: 'sweep' } as const;

/** The Temporal Schedule that ends what nobody else will end. */
export const SWEEP_SCHEDULE = 'tidemark-sweep';

export const SIGNAL = {
  /** Something changed that the run waits for: look at the rows again. Carries nothing. */
  wake: 'wake',
  /** An answer to an interrupt, sent straight from the Temporal UI or CLI. */
  resolveInterrupt: 'resolveInterrupt',
} as const;

export const SEARCH_ATTRIBUTE = {
  thread: 'TidemarkThread',
  engine: 'TidemarkEngine',
  model: 'TidemarkModel',
  state: 'TidemarkState',
} as const;

/** What a run's workflow is started with: ids and enums only (design, invariant 11). */
export interface AgentRunInput {
  readonly runId: string;
  readonly threadId: string;
  readonly engine: string;
  readonly model: string;
  /** The step to go on from after continue-as-new; 0 at the start. */
  readonly nextStep?: number;
}

/** What a sub-agent's workflow is started with; `delegatingStep` is its name in its run. */
export interface SubAgentInput {
  readonly runId: string;
  readonly delegatingStep: number;
  readonly maxSteps: number;
  /** The step to go on from after continue-as-new; its first at the start. */
  readonly nextStep?: number;
}

/** Nothing larger than this enters Temporal, in bytes of its JSON: checked in client, workflow and activity interceptors. */
export const TEMPORAL_PAYLOAD_LIMIT_BYTES = 256 * 1024;

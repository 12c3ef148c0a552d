import type { StepRange } from '../contract/sub-agent.ts';
import type { Inbox } from './inbox.ts';

/** Whose loop it is: the run's own agent, or one of its sub-agents. */
export interface SteppedAgent {
  readonly runId: string;
  /** Left out where only the rows know it: a model may have chosen it. */
  readonly model?: string;
  readonly steps: StepRange;
  /** The model step to go on from. */
  readonly nextStep: number;
  readonly maxSteps: number;
  readonly inbox: Inbox;
  continueFrom(nextStep: number): Promise<void>;
  /** What it waits for has changed. */
  onShown?(): Promise<void>;
}

import type { Agent } from '../contract/extensions/bus-event.ts';
import { delegatingStepOf, subAgentIdOf } from '../contract/sub-agent.ts';
import type { RunRow } from '../infra/postgres/run.ts';

/** A run as the extensions see it; of a step, whoever does it: the run's own agent, or one of its sub-agents. */
export function agentOf({ run_id: runId, thread_id: threadId, model }: RunRow, stepIndex: number | null = null): Agent {
  const delegatingStep = delegatingStepOf(stepIndex);
  const agent = { runId, threadId, model };
  return delegatingStep === null ? agent : { ...agent, subAgent: subAgentIdOf(runId, delegatingStep) };
}

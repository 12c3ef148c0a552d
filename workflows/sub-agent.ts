import { continueAsNew, getExternalWorkflowHandle, isCancellation } from '@temporalio/workflow';
import { SIGNAL, type SubAgentInput } from '../contract/messages.ts';
import type { Ending } from '../contract/run-plan.ts';
import { stepsOf } from '../contract/sub-agent.ts';
import { endingOfError } from './ending.ts';
import { Inbox } from './inbox.ts';
import { driveSteps } from './stepped-turn.ts';
import { isTimeToContinue } from './time-to-continue.ts';

/**
 * A sub-agent: the loop of a run inside a run, as a child of its workflow. It works in the run's lane and thread, with steps of a
 * range of its own; who delegated to it begins and ends it (`delegate.ts`).
 *
 * **Contract:** never fails for what its model or its tools do: it tells how it ended.
 */
export async function subAgent(input: SubAgentInput): Promise<Ending> {
  const { runId, delegatingStep, maxSteps } = input;
  const steps = stepsOf(delegatingStep);
  try {
    return await driveSteps({
      runId,
      steps,
      nextStep: input.nextStep ?? steps.first,
      maxSteps,
      inbox: new Inbox(),
      continueFrom: async (nextStep) => {
        if (isTimeToContinue()) await continueAsNew<typeof subAgent>({ ...input, nextStep });
      },
      onShown: () => wakeRun(runId),
    });
  } catch (error) {
    return endingOfError(error);
  }
}

/** What the sub-agent waits for, the run waits for: its workflow shows it, too. A run that is over needs no telling. */
async function wakeRun(runId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(runId).signal(SIGNAL.wake);
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

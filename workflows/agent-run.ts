import { CancellationScope, continueAsNew } from '@temporalio/workflow';
import type { AgentRunInput } from '../contract/messages.ts';
import type { Ending } from '../contract/run-plan.ts';
import { stepsOf } from '../contract/sub-agent.ts';
import { endingOfError } from './ending.ts';
import { Inbox } from './inbox.ts';
import { driveOpaque } from './opaque-turn.ts';
import { local, control } from './proxies.ts';
import { showState } from './run-display.ts';
import { driveSteps } from './stepped-turn.ts';
import { isTimeToContinue } from './time-to-continue.ts';
import { waitForTurn } from './wait-for-turn.ts';

/** A lane longer than this is canonicalized in an activity of its own, not inside a workflow task. */
const LOCAL_CANONICALIZE_FRAMES = 2_000;

/**
 * One run: take the turn, drive the engine, settle, prove complete (design §3).
 *
 * **Contract:** whatever happens after the turn is waited for, the run is settled once with a truthful reason and its
 * canonicalization is seen to. Nothing of the conversation is in this workflow's history: ids, counts and enums only.
 */
export async function agentRun(input: AgentRunInput): Promise<{ status: string; stopReason: string }> {
  const { runId } = input;
  const inbox = new Inbox();
  const ending = await endingOf(input, inbox);
  return await CancellationScope.nonCancellable(async () => {
    const settled = await local.settleRun({ runId, ending });
    showState(settled.status, `${settled.status}: ${settled.stopReason}`);
    if (settled.nextRunId !== null) await local.wakeRun(settled.nextRunId);
    const short = settled.frames <= LOCAL_CANONICALIZE_FRAMES;
    const done = short ? await local.canonicalize(runId) : await control.canonicalize(runId);
    // another worker held the claim: this waits behind it, by the retries of an activity
    if (!done) await control.canonicalize(runId);
    return { status: settled.status, stopReason: settled.stopReason };
  });
}

async function endingOf(input: AgentRunInput, inbox: Inbox): Promise<Ending> {
  const { runId, model, nextStep = 0 } = input;
  try {
    const turn = await waitForTurn(runId, inbox);
    if (turn !== 'active') return { status: 'failed', stopReason: 'cancelled' };
    showState('running', 'works');
    const { maxSteps, drive } = await local.openRun(runId);
    // a history of before opaque engines has no `drive`
    if (drive === 'opaque') return await driveOpaque(input, inbox, continueFrom);
    return await driveSteps({ runId, model, steps: stepsOf(null), nextStep, maxSteps, inbox, continueFrom });
  } catch (error) {
    return endingOfError(error);
  }

  /** Goes on in a new run of this workflow, when its history is long or a newer worker version is there. */
  async function continueFrom(next: number): Promise<void> {
    if (isTimeToContinue()) await continueAsNew<typeof agentRun>({ ...input, nextStep: next });
  }
}

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  condition,
  isCancellation,
  startChild,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import { SIGNAL, WORKFLOW, type SubAgentInput } from '../contract/messages.ts';
import type { Ending, ToolTurn } from '../contract/run-plan.ts';
import { SUB_AGENT_MAX_STEPS, subAgentIdOf } from '../contract/sub-agent.ts';
import type { Inbox } from './inbox.ts';
import { PendingDisplay } from './pending-display.ts';
import { local } from './proxies.ts';
import { childAttributes } from './run-display.ts';

/** What `sub-agent.ts` is, by its name: it drives the loop that calls this. */
type SubAgentWorkflow = (input: SubAgentInput) => Promise<Ending>;

interface CallStep {
  readonly runId: string;
  readonly modelStep: number;
  readonly stepIndex: number;
}

/** The sub-agents that work for a run at the moment. */
export class SubAgents {
  readonly #runId: string;
  readonly #maxSteps: number;
  readonly #working = new Set<ChildWorkflowHandle<SubAgentWorkflow>>();

  constructor({ runId, maxSteps }: { readonly runId: string; readonly maxSteps: number }) {
    this.#runId = runId;
    this.#maxSteps = Math.min(maxSteps, SUB_AGENT_MAX_STEPS);
  }

  /**
   * Has a call done by a sub-agent, in a child workflow.
   *
   * **Contract:** however the sub-agent ends, the call gets its answer; only a run that is stopped leaves it without. It is really
   * over before this returns.
   */
  async delegate(call: CallStep): Promise<ToolTurn> {
    const { state } = await local.openSubAgent(call);
    if (state === 'cancelled') return { outcome: 'cancelled' };
    if (state !== 'opened') return { outcome: 'done' };
    return await local.endSubAgent({ ...call, ending: await this.#endingOf(call) });
  }

  async #endingOf({ runId, stepIndex }: CallStep): Promise<Ending> {
    try {
      const child = await startChild<SubAgentWorkflow>(WORKFLOW.subAgent, {
        workflowId: subAgentIdOf(runId, stepIndex),
        args: [{ runId, delegatingStep: stepIndex, maxSteps: this.#maxSteps }],
        // a workflow that was reset in Temporal does it again: its steps are done once whatever their workflow thinks
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        parentClosePolicy: 'TERMINATE',
        cancellationType: 'WAIT_CANCELLATION_COMPLETED',
        staticSummary: `sub-agent · step ${String(stepIndex)}`,
        typedSearchAttributes: childAttributes(),
      });
      this.#working.add(child);
      try {
        return await child.result();
      } finally {
        this.#working.delete(child);
      }
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      return endingOfLost(error);
    }
  }

  /**
   * Sees to the run's signals while sub-agents work: answers are recorded, what is open is shown, and each is told to look at its
   * rows again.
   */
  async relay(inbox: Inbox, isOver: () => boolean): Promise<void> {
    const display = new PendingDisplay(this.#runId);
    for (;;) {
      await condition(() => isOver() || inbox.hasNews);
      if (isOver()) return display.clear();
      inbox.markSeen();
      await display.refresh(inbox);
      await Promise.all([...this.#working].map(wake));
    }
  }
}

/** A sub-agent that has just ended needs no telling. */
async function wake(child: ChildWorkflowHandle<SubAgentWorkflow>): Promise<void> {
  try {
    await child.signal(SIGNAL.wake);
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/** A sub-agent whose workflow was ended from outside, or could not tell how it ended. */
function endingOfLost(error: unknown): Ending {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return failed('workflow_lost');
  if (!(error instanceof ChildWorkflowFailure)) throw error;
  if (error.cause instanceof CancelledFailure) return { status: 'failed', stopReason: 'cancelled' };
  return failed('workflow_terminated');
}

function failed(code: 'workflow_lost' | 'workflow_terminated'): Ending {
  return { status: 'failed', stopReason: 'error', code };
}

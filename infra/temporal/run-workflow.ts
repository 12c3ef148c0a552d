import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { SEARCH_ATTRIBUTE, SIGNAL, TASK_QUEUE, WORKFLOW, type AgentRunInput } from '../../contract/messages.ts';
import type { RunRow } from '../postgres/run.ts';

/**
 * Starts a run's workflow.
 *
 * **Contract:** exactly once, however often and from wherever it is called: the workflow id is the run id, a running one is used,
 * a closed one is not begun again (design §3.1).
 */
export async function startRunWorkflow(temporal: Client, run: RunRow): Promise<void> {
  const { run_id: runId, thread_id: threadId, engine, model } = run;
  const input: AgentRunInput = { runId, threadId, engine, model };
  const attributes = {
    [SEARCH_ATTRIBUTE.thread]: threadId,
    [SEARCH_ATTRIBUTE.engine]: engine,
    [SEARCH_ATTRIBUTE.model]: model,
  };
  try {
    await temporal.workflow.start(WORKFLOW.agentRun, {
      workflowId: runId,
      taskQueue: TASK_QUEUE.control,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [input],
      typedSearchAttributes: new TypedSearchAttributes(
        Object.entries({ ...attributes, [SEARCH_ATTRIBUTE.state]: 'queued' }).map(([name, value]) => ({
          key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
          value,
        })),
      ),
      staticSummary: `agent run · ${engine} · ${model}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Asks a run's workflow to stop: the backstop under the wake-up by Postgres. One that is over needs no asking. */
export async function cancelRunWorkflow(temporal: Client, runId: string): Promise<'asked' | 'missing'> {
  return await ifThere(async () => {
    await temporal.workflow.getHandle(runId).cancel();
  });
}

/** Tells a run to look at its rows. One that is over needs no telling. */
export async function wakeRunWorkflow(temporal: Client, runId: string): Promise<'asked' | 'missing'> {
  return await ifThere(async () => {
    await temporal.workflow.getHandle(runId).signal(SIGNAL.wake);
  });
}

async function ifThere(ask: () => Promise<void>): Promise<'asked' | 'missing'> {
  try {
    await ask();
    return 'asked';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}

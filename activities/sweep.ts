import { WorkflowNotFoundError, type Client, type WorkflowExecutionStatusName } from '@temporalio/client';
import { WORKFLOW } from '../contract/messages.ts';
import type { ErrorCode } from '../contract/errors.ts';
import { removeLeftArtifacts } from '../infra/postgres/artifact-link.ts';
import { dueIntents } from '../infra/postgres/outbox.ts';
import { takeUnswept, unsettledOf } from '../infra/postgres/sweep.ts';
import { settleRun, type Settlement } from '../infra/postgres/turn.ts';
import { wakeRunWorkflow } from '../infra/temporal/run-workflow.ts';
import { createCanonicalize } from './canonicalize.ts';
import type { Dependencies } from './dependencies.ts';

/** How far back closed workflows are looked at: longer than the sweep can be away without anyone noticing. */
const CLOSED_WITHIN_MS = 60 * 60_000;
/** A live run's workflow is asked after so long without a look, in case Temporal has lost it. */
const UNSEEN_MS = 10 * 60_000;
const BATCH = 50;
/** A session that was imported brings an intent for each of its runs. */
const INTENT_BATCHES = 40;
/** An artifact without a link may get one while its step ends; a day later it will not. */
const LEFT_MS = 24 * 60 * 60_000;

export interface Swept {
  /** Runs that were ended because their workflow is closed or gone. */
  readonly settled: number;
  /** Intents that were taken over. */
  readonly canonicalized: number;
}

/**
 * Ends what nobody else will end (design, invariant 5): runs whose workflow was terminated, failed or lost, each with a truthful
 * reason, and canonicalization intents that no workflow sees to any more. Removes artifacts that nobody refers to. Run by a
 * Temporal Schedule.
 *
 * **Contract:** safe to repeat and to run twice at once: a run is settled once, an intent is claimed.
 */
export function createSweep(deps: Dependencies) {
  const { pool, log, temporal } = deps;
  const canonicalize = createCanonicalize(deps);

  return async function sweep(): Promise<Swept> {
    let settled = 0;
    for (const [runId, status] of await orphans()) {
      await end(runId, status);
      settled += 1;
    }
    let canonicalized = 0;
    for (let batches = 0; batches < INTENT_BATCHES; batches++) {
      const due = await dueIntents(pool, BATCH);
      for (const runId of due) {
        // its failure is logged and counted where it is handled; the next sweep finds it again
        if (await canonicalize(runId).catch(() => false)) canonicalized += 1;
      }
      if (due.length < BATCH) break;
    }
    await removeLeftArtifacts(pool, { olderThanMs: LEFT_MS, limit: BATCH });
    return { settled, canonicalized };
  };

  async function orphans(): Promise<Map<string, WorkflowExecutionStatusName | 'LOST'>> {
    const closed = await closedAbnormally(temporal);
    const unsettled = await unsettledOf(pool, [...closed.keys()]);
    const found = new Map<string, WorkflowExecutionStatusName | 'LOST'>();
    for (const runId of unsettled) found.set(runId, closed.get(runId) ?? 'UNKNOWN');
    for (const runId of await takeUnswept(pool, { limit: BATCH, olderThanMs: UNSEEN_MS })) {
      const status = await statusOf(temporal, runId);
      if (status !== 'RUNNING') found.set(runId, status);
    }
    return found;
  }

  async function end(runId: string, status: WorkflowExecutionStatusName | 'LOST'): Promise<void> {
    const { run: settled, nextRunId } = await settleRun(pool, runId, endingOf(status));
    log.warn({ runId, workflow: status, stopReason: settled.stop_reason }, 'run ended by the sweep');
    if (nextRunId !== null) await wakeRunWorkflow(temporal, nextRunId);
    await canonicalize(runId).catch(() => false);
  }
}

const LOST: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  TERMINATED: { code: 'workflow_terminated', message: 'the run’s workflow was terminated in Temporal' },
  TIMED_OUT: { code: 'workflow_terminated', message: 'the run’s workflow reached its time limit in Temporal' },
  LOST: { code: 'workflow_lost', message: 'Temporal does not know the run’s workflow any more' },
};

function endingOf(status: string): Settlement {
  if (status === 'CANCELLED') return { status: 'failed', stopReason: 'cancelled' };
  const error = LOST[status] ?? {
    code: 'workflow_lost',
    message: `the run’s workflow ended (${status.toLowerCase()}) without ending the run`,
  };
  return { status: 'failed', stopReason: 'error', error };
}

/** Runs whose workflow closed lately in another way than by completing. */
async function closedAbnormally(temporal: Client): Promise<Map<string, WorkflowExecutionStatusName>> {
  const since = new Date(Date.now() - CLOSED_WITHIN_MS).toISOString();
  const query =
    `WorkflowType = '${WORKFLOW.agentRun}' AND CloseTime > '${since}' ` +
    `AND ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut', 'Canceled')`;
  const closed = new Map<string, WorkflowExecutionStatusName>();
  for await (const { workflowId, status } of temporal.workflow.list({ query })) closed.set(workflowId, status.name);
  return closed;
}

async function statusOf(temporal: Client, runId: string): Promise<WorkflowExecutionStatusName | 'LOST'> {
  try {
    return (await temporal.workflow.getHandle(runId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'LOST';
    throw error;
  }
}

import { ApplicationFailure, Context } from '@temporalio/activity';
import { SIGNAL } from '../contract/messages.ts';
import { takeTurn } from '../infra/postgres/turn.ts';
import { beating } from './activity-life.ts';
import { createCallModel } from './stepped/call-model.ts';
import { createCanonicalize } from './canonicalize.ts';
import type { Dependencies } from './dependencies.ts';
import { createDriveTurn } from './opaque/drive-turn.ts';
import { createEndSubAgent } from './stepped/end-sub-agent.ts';
import { createGateToolCalls } from './stepped/gate-tool-calls.ts';
import { createOpenRun } from './open-run.ts';
import { createOpenSubAgent } from './stepped/open-sub-agent.ts';
import { createPendingQuestions } from './opaque/pending-questions.ts';
import { createRecordDecision } from './record-decision.ts';
import { createRunTool } from './stepped/run-tool.ts';
import { createSettleRun } from './settle-run.ts';
import { createSweep } from './sweep.ts';

/** What drives engines: long, heartbeating, on the queue whose slots are sized for the engines. */
export function engineActivities(deps: Dependencies) {
  return { callModel: createCallModel(deps), runTool: createRunTool(deps), driveTurn: createDriveTurn(deps) };
}

/** Bookkeeping: short, safe to repeat, mostly run as local activities. */
export function controlActivities(deps: Dependencies) {
  const canonicalize = createCanonicalize(deps);
  const sweep = createSweep(deps);
  return {
    takeTurn: (runId: string) => takeTurn(deps.pool, runId),
    openRun: createOpenRun(deps),
    gateToolCalls: createGateToolCalls(deps),
    openSubAgent: createOpenSubAgent(deps),
    endSubAgent: createEndSubAgent(deps),
    recordDecision: createRecordDecision(deps),
    pendingQuestions: createPendingQuestions(deps),
    settleRun: createSettleRun(deps),
    /** False when another worker holds the claim; as an activity of its own it waits behind that one, by its retries. */
    canonicalize: async (runId: string): Promise<boolean> => {
      const done = await beating(() => canonicalize(runId));
      if (!done && !Context.current().info.isLocal)
        throw ApplicationFailure.create({
          message: 'the claim is held',
          type: 'claim_held',
          nextRetryDelay: '5 seconds',
        });
      return done;
    },
    sweep: () => beating(sweep),
    /** Tells a run that it has the turn; one that is over needs no telling. */
    wakeRun: async (runId: string): Promise<void> => {
      await deps.temporal.workflow.getHandle(runId).signal(SIGNAL.wake).catch(ignoreMissing);
    },
  };
}

/** The next run's workflow may not be started yet (its dispatcher will), or be over: both need no wake-up. */
function ignoreMissing(error: unknown): void {
  if (error instanceof Error && error.name === 'WorkflowNotFoundError') return;
  throw error;
}

export type EngineActivities = ReturnType<typeof engineActivities>;
export type ControlActivities = ReturnType<typeof controlActivities>;

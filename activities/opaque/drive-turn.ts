import type { DrivenTurn } from '../../contract/run-plan.ts';
import { readRun } from '../../infra/postgres/run.ts';
import { openTurnStep } from '../../infra/postgres/turn-step.ts';
import { refuseEndlessLoss } from '../attempts.ts';
import { withLife } from '../activity-life.ts';
import type { Dependencies } from '../dependencies.ts';
import { killMarked } from '../engines/process/engine-process.ts';
import { TurnAttempt } from './turn-attempt.ts';

/**
 * One turn of an engine that has a loop of its own (design §3.4, "opaque").
 *
 * **Contract:** a turn that has its end is not driven again: the repeat returns it. An attempt that died is fenced, what it left
 * running on this machine is killed, and its session is taken up again where the engine can; where it cannot, the turn fails with
 * `engine_lost`.
 */
export function createDriveTurn(deps: Dependencies) {
  const { pool, watch } = deps;
  return async function driveTurn({ runId }: { runId: string }): Promise<DrivenTurn> {
    return await withLife(watch, runId, async (life) => {
      const run = await readRun(pool, runId);
      const engine = deps.engines.opaque(run.engine);
      const opened = await openTurnStep(pool, { runId, label: engine.name });
      if (opened.state === 'cancelled') return { outcome: 'cancelled' };
      if (opened.state === 'done') return JSON.parse(opened.result) as DrivenTurn;
      refuseEndlessLoss(opened.begun);
      if (opened.earlier !== null) await killMarked(runId);
      return await new TurnAttempt(deps, { run, engine, opened, life }).run();
    });
  };
}

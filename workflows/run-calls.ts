import type { GatedCall, ToolTurn } from '../contract/run-plan.ts';
import { SubAgents } from './delegate.ts';
import { ENGINE_OPTIONS, engine } from './proxies.ts';
import type { SteppedAgent } from './stepped-agent.ts';

/** Tool calls that run at the same time, at most. */
const PARALLEL_TOOLS = 4;

/** Runs the calls that may run, in order; neighbours that are safe side by side run together. True if the run was cancelled. */
export async function runCalls(agent: SteppedAgent, modelStep: number, calls: readonly GatedCall[]): Promise<boolean> {
  const runnable = calls.filter(({ state }) => state === 'run');
  for (let at = 0; at < runnable.length;) {
    const batch = [runnable[at] as GatedCall];
    while (batch.length < PARALLEL_TOOLS && batch[0]?.parallelSafe === true) {
      const next = runnable[at + batch.length];
      if (next?.parallelSafe !== true) break;
      batch.push(next);
    }
    at += batch.length;
    for (const turn of await runBatch(agent, modelStep, batch)) {
      if (turn.status === 'rejected') throw turn.reason;
      if (turn.value.outcome === 'cancelled') return true;
    }
  }
  return false;
}

/** All are waited for, so that nothing of the run works on when one fails (research, §0.1). */
async function runBatch(
  agent: SteppedAgent,
  modelStep: number,
  batch: readonly GatedCall[],
): Promise<PromiseSettledResult<ToolTurn>[]> {
  const { runId, steps, inbox } = agent;
  const subAgents = new SubAgents(agent);
  const turns = Promise.allSettled(
    batch.map(({ stepIndex, toolName, delegates }) => {
      const call = { runId, modelStep, stepIndex };
      if (delegates === true) return subAgents.delegate(call);
      const summary = `tool ${toolName} · step ${String(stepIndex - steps.first)}`;
      return engine.runTool.executeWithOptions({ ...ENGINE_OPTIONS, summary }, [call]);
    }),
  );
  if (batch.every(({ delegates }) => delegates !== true)) return await turns;
  let isOver = false;
  const relaying = subAgents.relay(inbox, () => isOver);
  // its failure is thrown below, when nothing of the batch works any more
  relaying.catch(() => undefined);
  const settled = await turns;
  isOver = true;
  await relaying;
  return settled;
}

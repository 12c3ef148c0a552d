import type { Ending, GatePlan } from '../contract/run-plan.ts';
import { lookAgainMs } from './inbox.ts';
import { ENGINE_OPTIONS, engine, local } from './proxies.ts';
import { runCalls } from './run-calls.ts';
import { howToAnswer, showState } from './run-display.ts';
import type { SteppedAgent } from './stepped-agent.ts';

const STEP_LIMIT: Ending = { status: 'failed', stopReason: 'error', code: 'step_limit' };
const CANCELLED: Ending = { status: 'failed', stopReason: 'cancelled' };

/**
 * The built-in engine's loop: a model call, then its tool calls, again until the model has no more to call and no input waits
 * (spec 002, C.5).
 *
 * **Contract:** step indexes are given by position: model step k, its calls k+1 …, the next model step after them; so a loop that
 * goes on after continue-as-new or a crash finds what is done in the rows and repeats nothing.
 */
export async function driveSteps(agent: SteppedAgent): Promise<Ending> {
  const { runId, model, steps, maxSteps } = agent;
  let modelStep = agent.nextStep;
  for (;;) {
    await recordAnswers(agent);
    await agent.continueFrom(modelStep);
    if (modelStep - steps.first >= maxSteps) return STEP_LIMIT;
    const summary = ['model call', `step ${String(modelStep - steps.first)}`, ...(model === undefined ? [] : [model])];
    const turn = await engine.callModel.executeWithOptions({ ...ENGINE_OPTIONS, summary: summary.join(' · ') }, [
      { runId, stepIndex: modelStep },
    ]);
    if (turn.outcome === 'cancelled') return CANCELLED;
    if (turn.outcome === 'final') return { status: 'completed', stopReason: turn.stopReason };
    if (turn.outcome === 'continue') {
      modelStep += 1;
      continue;
    }
    if (modelStep + turn.calls >= steps.last) return STEP_LIMIT;

    const plan = await gate(agent, modelStep);
    if (await runCalls(agent, modelStep, plan.calls)) return CANCELLED;
    modelStep += 1 + plan.calls.length;
  }
}

/** Gates the calls of a model step and, if a person must decide, parks until all is decided. A parked run is no process. */
async function gate(agent: SteppedAgent, modelStep: number): Promise<GatePlan> {
  const { runId, inbox } = agent;
  let shown = '';
  for (let looks = 0; ; looks++) {
    const plan = await local.gateToolCalls({ runId, modelStep });
    if (plan.calls.every(({ state }) => state !== 'ask')) {
      if (shown !== '') await show('running', 'works');
      return plan;
    }
    const details = howToAnswer(plan.pending);
    if (details !== shown) await show('waiting', details);
    shown = details;
    await inbox.wait(Math.min(lookAgainMs(looks), plan.expiresInMs ?? Infinity));
    await recordAnswers(agent);
    await agent.continueFrom(modelStep);
  }

  async function show(state: 'running' | 'waiting', details: string): Promise<void> {
    showState(state, details);
    await agent.onShown?.();
  }
}

async function recordAnswers({ runId, inbox }: SteppedAgent): Promise<void> {
  for (const answer of inbox.takeAnswers()) await local.recordDecision({ runId, answer });
}

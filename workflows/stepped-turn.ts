import type { AgentRunInput } from '../contract/messages.ts';
import type { Ending, GatedCall, GatePlan } from '../contract/run-plan.ts';
import { lookAgainMs, type Inbox } from './inbox.ts';
import { ENGINE_OPTIONS, engine, local } from './proxies.ts';
import { howToAnswer, showState } from './run-display.ts';

/** Tool calls that run at the same time, at most. */
const PARALLEL_TOOLS = 4;

/**
 * The built-in engine's loop: a model call, then its tool calls, again until the model has no more to call and no input waits
 * (spec 002, C.5).
 *
 * **Contract:** step indexes are given by position: model step k, its calls k+1 …, the next model step after them; so a run that
 * goes on after continue-as-new or a crash finds what is done in the rows and repeats nothing.
 */
export async function driveSteps(
  input: AgentRunInput & { readonly maxSteps: number },
  inbox: Inbox,
  continueFrom: (nextStep: number) => Promise<void>,
): Promise<Ending> {
  const { runId, maxSteps } = input;
  let modelStep = input.nextStep ?? 0;
  for (;;) {
    await recordAnswers(runId, inbox);
    await continueFrom(modelStep);
    if (modelStep >= maxSteps) return { status: 'failed', stopReason: 'error', code: 'step_limit' };
    const summary = `model call · step ${String(modelStep)} · ${input.model}`;
    const turn = await engine.callModel.executeWithOptions({ ...ENGINE_OPTIONS, summary }, [
      { runId, stepIndex: modelStep },
    ]);
    if (turn.outcome === 'cancelled') return { status: 'failed', stopReason: 'cancelled' };
    if (turn.outcome === 'final') return { status: 'completed', stopReason: turn.stopReason };
    if (turn.outcome === 'continue') {
      modelStep += 1;
      continue;
    }

    const plan = await gate({ runId, modelStep, inbox, continueFrom });
    const cancelled = await runCalls(runId, modelStep, plan.calls);
    if (cancelled) return { status: 'failed', stopReason: 'cancelled' };
    modelStep += 1 + plan.calls.length;
  }
}

/** Gates the calls of a model step and, if a person must decide, parks until all is decided. A parked run is no process. */
async function gate(parked: {
  runId: string;
  modelStep: number;
  inbox: Inbox;
  continueFrom: (nextStep: number) => Promise<void>;
}): Promise<GatePlan> {
  const { runId, modelStep, inbox, continueFrom } = parked;
  let shown = '';
  for (let looks = 0; ; looks++) {
    const plan = await local.gateToolCalls({ runId, modelStep });
    if (plan.calls.every(({ state }) => state !== 'ask')) {
      if (shown !== '') showState('running', 'works');
      return plan;
    }
    const details = howToAnswer(plan.pending);
    if (details !== shown) showState('waiting', details);
    shown = details;
    await inbox.wait(Math.min(lookAgainMs(looks), plan.expiresInMs ?? Infinity));
    await recordAnswers(runId, inbox);
    await continueFrom(modelStep);
  }
}

async function recordAnswers(runId: string, inbox: Inbox): Promise<void> {
  for (const answer of inbox.takeAnswers()) await local.recordDecision({ runId, answer });
}

/** Runs the calls that may run, in order; neighbours that are safe side by side run together. True if the run was cancelled. */
async function runCalls(runId: string, modelStep: number, calls: readonly GatedCall[]): Promise<boolean> {
  const runnable = calls.filter(({ state }) => state === 'run');
  for (let at = 0; at < runnable.length;) {
    const batch = [runnable[at] as GatedCall];
    while (batch.length < PARALLEL_TOOLS && batch[0]?.parallelSafe === true) {
      const next = runnable[at + batch.length];
      if (next?.parallelSafe !== true) break;
      batch.push(next);
    }
    at += batch.length;
    // all are waited for, so that nothing of the run works on when one fails (research, §0.1)
    const turns = await Promise.allSettled(
      batch.map(({ stepIndex, toolName }) =>
        engine.runTool.executeWithOptions(
          { ...ENGINE_OPTIONS, summary: `tool ${toolName} · step ${String(stepIndex)}` },
          [{ runId, modelStep, stepIndex }],
        ),
      ),
    );
    for (const turn of turns) {
      if (turn.status === 'rejected') throw turn.reason;
      if (turn.value.outcome === 'cancelled') return true;
    }
  }
  return false;
}

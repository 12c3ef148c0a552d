import { hash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import type { AgentContext, AssistantMessage, ProviderFailure } from '../../contract/agent-messages.ts';
import type { ModelTurn } from '../../contract/run-plan.ts';
import type { ModelPrice } from '../../infra/model-settings.ts';
import type { Pool } from '../../infra/postgres/pool.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import { endStep, noteStepError } from '../../infra/postgres/step.ts';
import type { ActivityLife } from '../activity-life.ts';
import { FAILING_ATTEMPTS } from '../attempts.ts';
import type { StepAgent } from './agent-of-step.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ContextWindow } from '../engines/builtin/compaction/context-window.ts';
import type { LoopEvents } from '../engines/builtin/extensions/loop-events.ts';
import { withVoice } from '../engines/builtin/extensions/run-voice.ts';
import { cancelled, llmStart } from '../engines/builtin/frames.ts';
import { withCost } from '../engines/builtin/price.ts';
import type { OnProviderEvent, Provider } from '../engines/builtin/providers/provider.ts';
import type { LaneSource, LaneWriter } from '../group-committer.ts';
import { toolCallIdOf } from './tool-call-id.ts';

/** The provider's silence that ends an attempt. */
const STALL_MS = 120_000;

/** A model step as one attempt at it holds it. */
export interface ModelStep {
  readonly run: RunRow;
  readonly agent: StepAgent;
  readonly stepIndex: number;
  readonly life: ActivityLife;
  /** What the loop says on the bus. */
  readonly events: LoopEvents;
  readonly lane: LaneSource;
  readonly writer: LaneWriter;
  readonly provider: Provider;
  readonly model: string;
  readonly window: ContextWindow;
  readonly price: ModelPrice | undefined;
}

/** One call of the step's model. Its start is said in the lane and on the bus; its end is the caller's to say. */
export async function askModel(
  { run, stepIndex, life, events, writer, provider, model, price }: ModelStep,
  context: AgentContext,
  { onEvent, onEnd }: { readonly onEvent?: OnProviderEvent; readonly onEnd: (message: AssistantMessage) => void },
): Promise<AssistantMessage> {
  writer.emit(llmStart(provider.name, model));
  const signal = AbortSignal.any([life.signal, writer.refused]);
  const toolCallId = (index: number): string => toolCallIdOf(run.run_id, stepIndex, index);
  const options = { signal, stallMs: STALL_MS, toolCallId };
  const message = await withVoice(
    (frame) => writer.emit(frame),
    async () => {
      events.callBegins(provider.name, model);
      const answer = withCost(await provider.complete(model, context, options, onEvent), price);
      onEnd(answer);
      return answer;
    },
  );
  await writer.drain();
  return message;
}

/**
 * Whether the run is being cancelled.
 *
 * @throws ApplicationFailure when another attempt is to do the step.
 */
export function isCancelled({ life }: Pick<ModelStep, 'life'>): boolean {
  const stop = life.stopReason();
  if (stop === 'lost' || stop === 'handover')
    throw ApplicationFailure.retryable('the step is handed over', 'worker_lost');
  return stop === 'cancelled';
}

/** Ends the step of a run that is being cancelled, which says nothing more. */
export async function endCancelled(pool: Pool, { lane, writer }: ModelStep): Promise<ModelTurn> {
  await writer.drain();
  const turn: ModelTurn = { outcome: 'cancelled' };
  await endStep(pool, {
    ...lane,
    status: 'cancelled',
    frames: [{ at: Date.now(), frame: cancelled() }],
    messages: [],
    result: JSON.stringify(turn),
    contentHash: hash('sha256', ''),
  });
  return turn;
}

/** Ends an attempt at the step for what its model, or its context, did not give. */
export async function failStep(
  { pool, log }: Pick<Dependencies, 'pool' | 'log'>,
  { run, stepIndex, life, lane }: ModelStep,
  { code, message, retryable, retryAfterMs }: ProviderFailure & { readonly message: string },
): Promise<never> {
  const { run_id: runId } = run;
  const error = { code, message };
  log.warn({ runId, stepIndex, attempt: life.attempt, ...error }, 'model call failed');
  await noteStepError(pool, { runId, ...lane.writer, error });
  throw ApplicationFailure.create({
    message: `model call failed: ${code}`,
    type: code,
    nonRetryable: !retryable || lane.writer.attempt >= FAILING_ATTEMPTS,
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  });
}

/** Why a call ended as an error. */
export function failureOf({ error, errorMessage }: AssistantMessage): ProviderFailure & { readonly message: string } {
  return { code: 'internal', retryable: false, ...error, message: errorMessage ?? 'the model call failed' };
}

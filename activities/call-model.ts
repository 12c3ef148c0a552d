import { hash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import type { AssistantMessage, ToolCall } from '../contract/agent-messages.ts';
import { canonicalJson } from '../contract/canonical-json.ts';
import type { ModelTurn } from '../contract/run-plan.ts';
import { crashPoint } from '../infra/crash-point.ts';
import { answersOfRun, sessionHead } from '../infra/postgres/message.ts';
import { readRun } from '../infra/postgres/run.ts';
import { endStep, noteStepError, openStep } from '../infra/postgres/step.ts';
import { withLife, type ActivityLife } from './activity-life.ts';
import { agentOf } from './agent-of.ts';
import { agentOfStep } from './agent-of-step.ts';
import type { Dependencies } from './dependencies.ts';
import { LoopEvents } from './engines/builtin/extensions/loop-events.ts';
import { withVoice } from './engines/builtin/extensions/run-voice.ts';
import { framesOf, llmEnd, llmStart } from './engines/builtin/frames.ts';
import type { ProviderEvent } from '../contract/extensions/register-kinds.ts';
import { translateBuiltinFrame } from './engines/builtin/translate.ts';
import { toolsFor } from './tool-restriction.ts';
import { toolCallIdOf } from './tool-call-id.ts';
import { totalUsage } from './total-usage.ts';

/** The provider's silence that ends an attempt. */
const STALL_MS = 120_000;
const MAX_TOKENS = 16_384;

/**
 * One model call: streams the provider's events into the lane and ends the step with the assistant's message.
 *
 * **Contract:** a repeat after a crash finds the finished step and returns its result, or fences the dead attempt and calls the
 * model again; what the dead attempt had said is withdrawn. Cancelled: the text that was shown stays in the session.
 */
export function createCallModel(deps: Dependencies) {
  const { pool, committer, providers, extensions, log } = deps;
  return async function callModel({ runId, stepIndex }: { runId: string; stepIndex: number }): Promise<ModelTurn> {
    return await withLife(deps.watch, runId, async (life) => {
      const run = await readRun(pool, runId);
      const agent = await agentOfStep(deps, run, stepIndex);
      const opened = await openStep(pool, { runId, stepIndex, kind: 'model', label: agent.model });
      if (opened.state === 'cancelled') return { outcome: 'cancelled' };
      if (opened.state === 'done') return JSON.parse(opened.result) as ModelTurn;
      const { provider, model } = providers.resolve(agent.model);
      const lane = { runId, provider: 'builtin', writer: opened.writer, translate: translateBuiltinFrame };
      const writer = committer.writer(lane);
      const events = new LoopEvents(extensions, agentOf(run));
      writer.emit(llmStart(provider.name, model));
      const context = {
        systemPrompt: agent.systemPrompt,
        messages: await agent.conversation(),
        tools: toolsFor(agent.tools, run.settings),
        maxTokens: MAX_TOKENS,
      };
      const toolCallId = (index: number): string => toolCallIdOf(runId, stepIndex, index);
      const options = { signal: AbortSignal.any([life.signal, writer.refused]), stallMs: STALL_MS, toolCallId };
      const onEvent = (event: ProviderEvent): void | Promise<void> => {
        for (const frame of framesOf(event)) writer.emit(frame);
        events.streamed(event);
        return writer.isCrowded ? writer.drain() : undefined;
      };
      const message = await withVoice(
        (frame) => writer.emit(frame),
        async () => {
          events.callBegins(provider.name, model);
          const answer = await provider.complete(model, context, options, onEvent);
          events.callEnded(answer, life.stopReason() === 'cancelled');
          return answer;
        },
      );
      await writer.drain();
      const stop = life.stopReason();
      if (stop === 'lost' || stop === 'handover')
        throw ApplicationFailure.retryable('the step is handed over', 'worker_lost');
      if (message.stopReason === 'error' && stop === null) return await fail(message, life);
      const ended = stop === 'cancelled' ? shownPart(message) : message;
      const turn = turnOf(ended, stop === 'cancelled');
      const total = totalUsage([...(await answersOfRun(pool, runId)), ended]);
      await endStep(pool, {
        ...lane,
        status: stop === 'cancelled' ? 'cancelled' : 'completed',
        frames: [{ at: Date.now(), frame: llmEnd(ended, total) }],
        messages: ended.content.length > 0 ? [ended] : [],
        result: JSON.stringify(turn),
        contentHash: hash('sha256', canonicalJson(ended.content)),
      });
      crashPoint('model-step.committed');
      await events.appended(ended, async () => (await sessionHead(pool, runId)).revision);
      return turn;

      async function fail(failed: AssistantMessage, { attempt }: ActivityLife): Promise<never> {
        const { code = 'internal', retryable = false, retryAfterMs } = failed.error ?? {};
        const error = { code, message: failed.errorMessage ?? 'the model call failed' };
        log.warn({ runId, stepIndex, attempt, ...error }, 'model call failed');
        await noteStepError(pool, { runId, ...lane.writer, error });
        throw ApplicationFailure.create({
          message: `model call failed: ${code}`,
          type: code,
          nonRetryable: !retryable,
          ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
        });
      }
    });
  };
}

function turnOf(message: AssistantMessage, cancelled: boolean): ModelTurn {
  if (cancelled) return { outcome: 'cancelled' };
  const calls = message.content.filter((block): block is ToolCall => block.type === 'tool-call').length;
  if (calls > 0) return { outcome: 'tools', calls };
  return { outcome: 'final', stopReason: message.stopReason === 'length' ? 'length' : 'stop' };
}

/** What a cancelled call leaves in the session: the text that people saw, and no call that would stay unanswered. */
function shownPart(message: AssistantMessage): AssistantMessage {
  const content = message.content.filter((block) => block.type === 'text' && block.text !== '');
  return { ...message, content, stopReason: 'aborted' };
}

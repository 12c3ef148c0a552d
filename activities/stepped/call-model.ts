import { hash } from 'node:crypto';
import type { AssistantMessage, Message, ToolCall } from '../../contract/agent-messages.ts';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { ModelTurn } from '../../contract/run-plan.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import { settingsOfModel } from '../../infra/model-settings.ts';
import { sessionHead } from '../../infra/postgres/message.ts';
import { readRun } from '../../infra/postgres/run.ts';
import { endStep, openStep } from '../../infra/postgres/step.ts';
import { withLife } from '../activity-life.ts';
import { agentOf } from '../agent-of.ts';
import { refuseEndlessLoss } from '../attempts.ts';
import { agentOfStep } from './agent-of-step.ts';
import { compactOnDemand } from './compact-on-demand.ts';
import type { Dependencies } from '../dependencies.ts';
import { contextWindow } from '../engines/builtin/compaction/context-window.ts';
import { LoopEvents } from '../engines/builtin/extensions/loop-events.ts';
import { framesOf, llmEnd } from '../engines/builtin/frames.ts';
import { mcpUnavailable } from '../engines/builtin/mcp/outage-frame.ts';
import { translateBuiltinFrame } from '../engines/builtin/translate.ts';
import { fitAfterRefusal, fitConversation, isTooLong } from './fit-conversation.ts';
import { askModel, endCancelled, failStep, failureOf, isCancelled, type ModelStep } from './model-step.ts';
import { toolsFor } from './tool-restriction.ts';
import { usageOfRun } from './total-usage.ts';

/** So long a call waits to hear of servers that are being started; each has a shorter limit of its own (`startSeconds`). */
const MCP_WITHIN_MS = 300_000;

const GO_ON: ModelTurn = { outcome: 'continue' };

/**
 * One model call: streams the provider's events into the lane and ends the step with the assistant's message. A conversation that
 * would not fit is compacted before; a run that only compacts does that in its first step, and is over.
 *
 * **Contract:** a repeat after a crash finds the finished step and returns its result, or fences the dead attempt and calls the
 * model again; what the dead attempt had said is withdrawn, what it had compacted is not done again. What a user has said meanwhile is
 * put before the model once, and a model that has ended is called again while such input waits. Cancelled: the text that was shown
 * stays in the session.
 */
export function createCallModel(deps: Dependencies) {
  const { pool, committer, providers, models, extensions, mcp } = deps;
  return async function callModel({ runId, stepIndex }: { runId: string; stepIndex: number }): Promise<ModelTurn> {
    return await withLife(deps.watch, runId, async (life) => {
      const run = await readRun(pool, runId);
      const agent = await agentOfStep(deps, run, stepIndex);
      const opened = await openStep(pool, { runId, stepIndex, kind: 'model', label: agent.model });
      if (opened.state === 'cancelled') return { outcome: 'cancelled' };
      if (opened.state === 'done') return JSON.parse(opened.result) as ModelTurn;
      refuseEndlessLoss(opened.writer.attempt);
      const { provider, model } = providers.resolve(agent.model);
      const settings = settingsOfModel(models, agent.model);
      const lane = { runId, provider: 'builtin', writer: opened.writer, translate: translateBuiltinFrame };
      const writer = committer.writer(lane);
      const window = contextWindow(model, settings, run.settings);
      const events = new LoopEvents(extensions, agentOf(run, stepIndex));
      await mcp.settled(MCP_WITHIN_MS, life.signal);
      // said once a run: of what the model is not told, and why
      if (stepIndex === 0) for (const outage of mcp.outages()) writer.emit(mcpUnavailable(outage));
      if (opened.injected !== null) {
        crashPoint('input.injected');
        events.heard(opened.injected);
        await events.appended(opened.injected, async () => (await sessionHead(pool, runId)).revision);
      }
      const step = {
        run,
        agent,
        stepIndex,
        life,
        events,
        lane,
        writer,
        provider,
        model,
        window,
        price: settings.price,
      };
      return run.settings.compact === undefined ? await answer(step) : await compactOnDemand(deps, step);
    });
  };

  async function answer(step: ModelStep): Promise<ModelTurn> {
    const { run, agent, life, events, lane, writer, window } = step;
    const context = {
      systemPrompt: agent.systemPrompt,
      tools: toolsFor(agent.tools, run.settings),
      maxTokens: window.maxOutputTokens,
    };
    const ask = async (messages: readonly Message[]): Promise<AssistantMessage> =>
      await askModel(
        step,
        { ...context, messages },
        {
          onEvent: (event) => {
            for (const frame of framesOf(event)) writer.emit(frame);
            events.streamed(event);
            return writer.isCrowded ? writer.drain() : undefined;
          },
          onEnd: (message) => events.callEnded(message, life.stopReason() === 'cancelled'),
        },
      );

    let fitted = await fitConversation(deps, step, context);
    if (fitted === 'cancelled') return await endCancelled(pool, step);
    let message = await ask(fitted.messages);
    if (!isCancelled(step) && isTooLong(message)) {
      fitted = await fitAfterRefusal(deps, step, context, { refusal: message, ...fitted });
      if (fitted === 'cancelled') return await endCancelled(pool, step);
      message = await ask(fitted.messages);
    }
    const cancelled = isCancelled(step);
    if (message.stopReason === 'error' && !cancelled) return await failStep(deps, step, failureOf(message));
    const ended = cancelled ? shownPart(message) : message;
    const turn = turnOf(ended, cancelled);
    const total = await usageOfRun(pool, run.run_id, ended.usage);
    const result = await endStep(pool, {
      ...lane,
      status: cancelled ? 'cancelled' : 'completed',
      frames: [{ at: Date.now(), frame: llmEnd(ended, total) }],
      messages: ended.content.length > 0 ? [ended] : [],
      result: JSON.stringify(turn),
      // input is for the run's own agent
      ...(turn.outcome === 'final' && agent.delegatingStep === null
        ? { resultIfInputWaits: JSON.stringify(GO_ON) }
        : {}),
      contentHash: hash('sha256', canonicalJson(ended.content)),
    });
    crashPoint('model-step.committed');
    await events.appended(ended, async () => (await sessionHead(pool, run.run_id)).revision);
    return JSON.parse(result) as ModelTurn;
  }
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

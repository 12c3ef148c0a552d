import type { ToolCall, ToolResultMessage } from '../../contract/agent-messages.ts';
import { TidemarkError } from '../../contract/errors.ts';
import type { Delegation } from '../../contract/run-plan.ts';
import { subAgentIdOf, SUB_AGENTS_PER_RUN } from '../../contract/sub-agent.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import { commitGate } from '../../infra/postgres/gate.ts';
import { sessionHead } from '../../infra/postgres/message.ts';
import { readRun, type RunRow } from '../../infra/postgres/run.ts';
import { openSubAgent as open } from '../../infra/postgres/sub-agent.ts';
import { agentOf } from '../agent-of.ts';
import { delegable } from './agent-of-step.ts';
import { callOfStep, type CallStep } from './call-of-step.ts';
import type { Dependencies } from '../dependencies.ts';
import { LoopEvents } from '../engines/builtin/extensions/loop-events.ts';
import { subAgentStart, toolCallBegins, toolResult } from '../engines/builtin/frames.ts';
import type { DelegatedTask, DelegateTool } from '../engines/builtin/tools/tool.ts';
import { translateBuiltinFrame } from '../engines/builtin/translate.ts';
import { toolsFor } from './tool-restriction.ts';

const ENGINE = { provider: 'builtin', translate: translateBuiltinFrame } as const;

/**
 * Begins the sub-agent that a call asks for, or answers the call with the reason why not.
 *
 * **Contract:** safe to repeat: a sub-agent begins once, a refusal is said once.
 */
export function createOpenSubAgent(deps: Dependencies) {
  const { pool, tools } = deps;
  return async function openSubAgent(step: CallStep): Promise<Delegation> {
    const { runId, modelStep, stepIndex } = step;
    const run = await readRun(pool, runId);
    const { call } = await callOfStep(deps, step);
    const tool = tools.get(call.name);
    if (tool?.kind !== 'delegate') throw new Error(`the gate let through what delegates nothing: ${call.name}`);
    const wanted = tool.delegation(call.arguments);
    const events = new LoopEvents(deps.extensions, agentOf(run));
    const fault = faultOf(deps, run, wanted);
    if (fault !== null) return await refuse(`error: invalid arguments for ${tool.name}: ${fault}`);
    const { task, name = null, model = null, tools: named = null } = wanted;
    const shown = {
      childId: subAgentIdOf(runId, stepIndex),
      toolCallId: call.id,
      task,
      model: model ?? run.model,
      name,
    };
    const state = await open(pool, {
      ...ENGINE,
      runId,
      delegatingStep: stepIndex,
      name,
      model,
      tools: named,
      task: { role: 'user', content: task, timestamp: Date.now() },
      frames: [toolCallBegins(call), subAgentStart(shown)],
    });
    if (state === 'full') {
      const limit = String(SUB_AGENTS_PER_RUN);
      return await refuse(`error: this run has had its ${limit} sub-agents; do the rest yourself.`);
    }
    crashPoint('sub-agent.opened');
    if (state === 'opened') events.toolBegins(call);
    return { state };

    async function refuse(text: string): Promise<Delegation> {
      const message = refusalOf(call, tool as DelegateTool, text);
      const replies = [{ message, frame: toolResult(message) }];
      const nothing = { interrupts: [], verdicts: [], said: [] };
      const answered = await commitGate(pool, { ...ENGINE, ...nothing, runId, modelStep, replies });
      for (const { message: result } of answered) {
        events.toolEnded(result);
        await events.appended(result, async () => (await sessionHead(pool, runId)).revision);
      }
      return { state: 'refused' };
    }
  };
}

/** What of a task cannot be had here, in words for the model; null when all can. */
function faultOf(
  { providers, tools }: Dependencies,
  { settings }: RunRow,
  { tools: named = [], model }: DelegatedTask,
): string | null {
  const known = toolsFor(delegable(tools), settings).map(({ name }) => name);
  const unknown = named.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const list = unknown.map((name) => JSON.stringify(name)).join(', ');
    return `tools ${list} cannot be given; there are ${known.join(', ')}`;
  }
  if (model === undefined) return null;
  try {
    providers.resolve(model);
    return null;
  } catch (error) {
    if (error instanceof TidemarkError) return `model ${error.message}; leave it out to use your own`;
    throw error;
  }
}

function refusalOf(call: ToolCall, tool: DelegateTool, text: string): ToolResultMessage {
  return {
    role: 'tool-result',
    toolCallId: call.id,
    toolName: tool.name,
    content: [{ type: 'text', text }],
    isError: true,
    timestamp: Date.now(),
  };
}

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { ApplicationFailure } from '@temporalio/activity';
import type { AgentToolResult, ToolCall, ToolResultMessage } from '../contract/agent-messages.ts';
import { canonicalJson } from '../contract/canonical-json.ts';
import type { ToolTurn } from '../contract/run-plan.ts';
import { crashPoint } from '../infra/crash-point.ts';
import { readRun } from '../infra/postgres/run.ts';
import { endStep, openStep } from '../infra/postgres/step.ts';
import { withLife, type ActivityLife } from './activity-life.ts';
import { toolsOfStep } from './agent-of-step.ts';
import { callOfStep, type CallStep } from './call-of-step.ts';
import type { Dependencies } from './dependencies.ts';
import { toolCallBegins, toolResult } from './engines/builtin/frames.ts';
import { DEFAULT_LIMITS, type ExecutableTool, type ToolOutcome } from './engines/builtin/tools/tool.ts';
import { validateArguments } from './engines/builtin/tools/registry.ts';
import { translateBuiltinFrame } from './engines/builtin/translate.ts';
import { withOutputKept } from './keep-output.ts';

const UNKNOWN_OUTCOME =
  'error: an earlier attempt at this call was interrupted and its outcome is unknown: it may have taken effect. It was not run again.';

/**
 * One tool call.
 *
 * **Contract:** at most once for side effects (design, invariant 10): an attempt that died is not repeated unless the tool says
 * that it may be; the model is told that the outcome is unknown. The arguments are those that were approved, or that the
 * approver edited; any other are refused.
 */
export function createRunTool(deps: Dependencies) {
  const { pool, committer, config } = deps;
  return async function runTool({ runId, modelStep, stepIndex }: CallStep): Promise<ToolTurn> {
    return await withLife(deps.watch, runId, async (life) => {
      const run = await readRun(pool, runId);
      const call = await callOfStep(deps, { runId, modelStep, stepIndex });
      const tool = (await toolsOfStep(deps, runId, stepIndex)).get(call.name);
      if (tool?.kind !== 'execute') throw new Error(`the gate let through what cannot be run: ${call.name}`);
      const opened = await openStep(pool, { runId, stepIndex, kind: 'tool', label: call.name });
      if (opened.state === 'cancelled') return { outcome: 'cancelled' };
      if (opened.state === 'done') return JSON.parse(opened.result) as ToolTurn;
      const lane = { runId, provider: 'builtin', writer: opened.writer, translate: translateBuiltinFrame };
      const writer = committer.writer(lane);
      writer.emit(toolCallBegins(call));
      await writer.drain();

      const startedAt = performance.now();
      const workspace = join(config.workspaceRoot, run.thread_id);
      const { diff = null, ...result } = await execute(deps, {
        tool,
        call,
        life,
        workspace,
        isRepeat: opened.repeated,
      });
      crashPoint('tool.took-effect');
      const durationMs = Math.round(performance.now() - startedAt);
      const stop = life.stopReason();
      if (stop === 'lost') throw ApplicationFailure.retryable('the attempt was given up', 'worker_lost');
      if (stop === 'handover' && tool.repeatable)
        throw ApplicationFailure.retryable('the step is handed over', 'worker_lost');
      const message: ToolResultMessage = {
        role: 'tool-result',
        toolCallId: call.id,
        toolName: call.name,
        timestamp: Date.now(),
        ...result,
      };
      const turn: ToolTurn = { outcome: stop === 'cancelled' ? 'cancelled' : 'done' };
      await withOutputKept(deps, { tenantId: run.tenant_id, message, stepIndex, diff }, async (kept) => {
        const artifacts = [kept.output, kept.diff].flatMap((named) => named ?? []);
        await endStep(pool, {
          ...lane,
          status: stop === 'cancelled' ? 'cancelled' : result.isError ? 'failed' : 'completed',
          frames: [{ at: Date.now(), frame: toolResult(message, { durationMs, ...kept }) }],
          artifacts: artifacts.map(({ artifact, name }) => ({ artifactId: artifact.artifactId, name })),
          messages: [message],
          result: JSON.stringify(turn),
          contentHash: hash('sha256', canonicalJson(result.content)),
        });
      });
      crashPoint('tool-step.committed');
      return turn;
    });
  };
}

async function execute(
  { config, log }: Dependencies,
  step: { tool: ExecutableTool; call: ToolCall; life: ActivityLife; workspace: string; isRepeat: boolean },
): Promise<ToolOutcome> {
  const { tool, call, life, workspace, isRepeat } = step;
  if (isRepeat && !tool.repeatable) return errorResult(UNKNOWN_OUTCOME);
  const checked = validateArguments(tool, call.arguments);
  if (!checked.ok) return errorResult(checked.error);
  try {
    const context = { workspace, signal: life.signal, fetchAllow: config.fetchAllow, limits: DEFAULT_LIMITS };
    return await tool.execute(checked.args, context);
  } catch (error) {
    if (life.stopReason() !== null) return errorResult('[cancelled] tool call cancelled before completion');
    log.error({ err: error, tool: call.name }, 'tool failed');
    return errorResult(`error: tool ${call.name} failed`);
  }
}

function errorResult(text: string): AgentToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

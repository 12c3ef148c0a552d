import { hash } from 'node:crypto';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { ApplicationFailure } from '@temporalio/activity';
import type { AgentToolResult, ToolCall, ToolResultMessage } from '../../contract/agent-messages.ts';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { ToolTurn } from '../../contract/run-plan.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import { sessionHead } from '../../infra/postgres/message.ts';
import { artifactIdOf } from '../../infra/ids.ts';
import { readRun, type RunRow } from '../../infra/postgres/run.ts';
import { endStep, openStep } from '../../infra/postgres/step.ts';
import { withLife, type ActivityLife } from '../activity-life.ts';
import { agentOf } from '../agent-of.ts';
import { refuseEndlessLoss } from '../attempts.ts';
import { toolsOfStep } from './agent-of-step.ts';
import { callOfStep, type ApprovedCall, type CallStep } from './call-of-step.ts';
import { LoopEvents } from '../engines/builtin/extensions/loop-events.ts';
import { withVoice } from '../engines/builtin/extensions/run-voice.ts';
import type { Dependencies } from '../dependencies.ts';
import { toolCallBegins, toolOutput, toolResult } from '../engines/builtin/frames.ts';
import { DEFAULT_LIMITS, type BuiltinTool, type ToolContext, type ToolOutcome } from '../engines/builtin/tools/tool.ts';
import { translateBuiltinFrame } from '../engines/builtin/translate.ts';
import { killMarked, startEngineProcess } from '../engines/process/engine-process.ts';
import type { LaneWriter } from '../group-committer.ts';
import { withOutputKept } from '../keep-output.ts';

const UNKNOWN_OUTCOME =
  'error: an earlier attempt at this call was interrupted and its outcome is unknown: it may have taken effect. It was not run again.';

const NOT_APPROVED =
  'error: this call needs a person’s approval, which it does not have. It was not run; call the tool again.';

/** So long a call waits to hear whether its tool’s server is there. */
const MCP_WITHIN_MS = 300_000;

const INTERRUPTED =
  'error: the worker was stopped during this call, which may have taken effect in part. It was not run again.';

/**
 * One tool call.
 *
 * **Contract:** at most once for side effects (design, invariant 10): an attempt that died is not repeated unless the tool says
 * that it may be; the model is told that the outcome is unknown. The arguments are those that were approved, or that the
 * approver edited; any other are refused.
 */
export function createRunTool(deps: Dependencies) {
  const { pool, committer, extensions, mcp } = deps;
  return async function runTool({ runId, modelStep, stepIndex }: CallStep): Promise<ToolTurn> {
    return await withLife(deps.watch, runId, async (life) => {
      const run = await readRun(pool, runId);
      const { call, isApproved } = await callOfStep(deps, { runId, modelStep, stepIndex });
      await mcp.settled(MCP_WITHIN_MS, life.signal);
      const tool = (await toolsOfStep(deps, runId, stepIndex)).get(call.name);
      const opened = await openStep(pool, { runId, stepIndex, kind: 'tool', label: call.name });
      if (opened.state === 'cancelled') return { outcome: 'cancelled' };
      if (opened.state === 'done') return JSON.parse(opened.result) as ToolTurn;
      refuseEndlessLoss(opened.writer.attempt);
      const lane = { runId, provider: 'builtin', writer: opened.writer, translate: translateBuiltinFrame };
      const writer = committer.writer(lane);
      const events = new LoopEvents(extensions, agentOf(run, stepIndex));
      writer.emit(toolCallBegins(call));
      await writer.drain();

      const startedAt = performance.now();
      const mark = `${runId}.${String(stepIndex)}`;
      // what an earlier attempt left running when its worker died
      if (opened.repeated) await killMarked(mark);
      const context = contextOf(deps, { run, call, stepIndex, life, writer, mark });
      const outcome = await withVoice(
        (frame) => writer.emit(frame),
        async () => {
          events.toolBegins(call);
          return await execute(deps, { tool, call, isApproved, life, context, isRepeat: opened.repeated });
        },
      );
      crashPoint('tool.took-effect');
      const durationMs = Math.round(performance.now() - startedAt);
      const stop = life.stopReason();
      if (stop === 'lost') throw ApplicationFailure.retryable('the attempt was given up', 'worker_lost');
      if (stop === 'handover' && tool?.repeatable === true)
        throw ApplicationFailure.retryable('the step is handed over', 'worker_lost');
      await writer.drain();
      const { content, isError, details } = outcome;
      const message: ToolResultMessage = {
        role: 'tool-result',
        toolCallId: call.id,
        toolName: call.name,
        timestamp: Date.now(),
        content,
        isError,
        ...(details === undefined ? {} : { details }),
      };
      const turn: ToolTurn = { outcome: stop === 'cancelled' ? 'cancelled' : 'done' };
      const result = { tenantId: run.tenant_id, message, stepIndex, aside: outcome };
      await withOutputKept(deps, result, async (kept) => {
        const artifacts = [kept.saved, kept.output, kept.diff].flatMap((named) => named ?? []);
        await endStep(pool, {
          ...lane,
          status: stop === 'cancelled' ? 'cancelled' : isError ? 'failed' : 'completed',
          frames: [{ at: Date.now(), frame: toolResult(message, { durationMs, ...kept }) }],
          artifacts: artifacts.map(({ artifact, name }) => ({ artifactId: artifact.artifactId, name })),
          messages: [message],
          result: JSON.stringify(turn),
          contentHash: hash('sha256', canonicalJson(content)),
        });
      });
      crashPoint('tool-step.committed');
      events.toolEnded(message);
      await events.appended(message, async () => (await sessionHead(pool, runId)).revision);
      return turn;
    });
  };
}

function contextOf(
  { config, log }: Dependencies,
  step: { run: RunRow; call: ToolCall; stepIndex: number; life: ActivityLife; writer: LaneWriter; mark: string },
): ToolContext {
  const { run, call, stepIndex, life, writer, mark } = step;
  const memoryMb = DEFAULT_LIMITS.shellMemoryMb;
  return {
    agent: agentOf(run, stepIndex),
    toolCallId: call.id,
    workspace: join(config.workspaceRoot, run.thread_id),
    signal: AbortSignal.any([life.signal, writer.refused]),
    fetchAllow: config.fetchAllow,
    limits: DEFAULT_LIMITS,
    start: (options) => startEngineProcess({ ...options, memoryMb, mark, log: log.child({ runId: run.run_id }) }),
    print: (text) => toolOutput(call.id, text).forEach((frame) => writer.emit(frame)),
    artifactIdOf: (content) => artifactIdOf(run.tenant_id, hash('sha256', content)),
  };
}

async function execute(
  { mcp, log }: Dependencies,
  step: ApprovedCall & {
    tool: BuiltinTool | undefined;
    life: ActivityLife;
    context: ToolContext;
    isRepeat: boolean;
  },
): Promise<ToolOutcome> {
  const { tool, call, isApproved, life, context, isRepeat } = step;
  // the gate let it through, and it was taken out since
  if (tool?.kind !== 'execute') {
    const absence = mcp.absence(call.name);
    return errorResult(absence === null ? `error: unknown tool: ${call.name}` : `error: it was not run: ${absence}`);
  }
  // it let it through by what the tool was then, or was to another worker
  if (tool.approval === 'always' && !isApproved) return errorResult(NOT_APPROVED);
  if (isRepeat && !tool.repeatable) return errorResult(UNKNOWN_OUTCOME);
  const checked = tool.validate(call.arguments);
  if (!checked.ok) return errorResult(checked.error);
  try {
    return await tool.execute(checked.args, context);
  } catch (error) {
    if (life.stopReason() === 'handover') return errorResult(INTERRUPTED);
    if (context.signal.aborted) return errorResult('[cancelled] tool call cancelled before completion');
    log.error({ err: error, tool: call.name }, 'tool failed');
    return errorResult(`error: tool ${call.name} failed`);
  }
}

function errorResult(text: string): AgentToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

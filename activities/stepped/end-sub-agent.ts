import { hash } from 'node:crypto';
import { textOf, type AgentToolResult, type Message, type ToolResultMessage } from '../../contract/agent-messages.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { Ending, ToolTurn } from '../../contract/run-plan.ts';
import { subAgentIdOf } from '../../contract/sub-agent.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import { messagesOfSubAgent, sessionHead } from '../../infra/postgres/message.ts';
import { readRun } from '../../infra/postgres/run.ts';
import { endStep, findStep, lastStepError } from '../../infra/postgres/step.ts';
import { abandonSubAgent, ONLY_ATTEMPT } from '../../infra/postgres/sub-agent.ts';
import { agentOf } from '../agent-of.ts';
import { callOfStep, type CallStep } from './call-of-step.ts';
import type { Dependencies } from '../dependencies.ts';
import { LoopEvents } from '../engines/builtin/extensions/loop-events.ts';
import { subAgentEnd, toolResult } from '../engines/builtin/frames.ts';
import { translateBuiltinFrame } from '../engines/builtin/translate.ts';
import { withOutputKept } from '../keep-output.ts';
import { totalUsage } from './total-usage.ts';

const DONE: ToolTurn = { outcome: 'done' };

/** What the caller is told where no step left its own words. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  step_limit: 'it reached its limit of steps',
  worker_lost: 'the worker that did its step was lost, and so were the attempts after it',
  workflow_terminated: 'its workflow was ended in Temporal',
};

/**
 * Ends a sub-agent: what it said last is the result of the call that delegated to it; a failure is an error result, from which the
 * run goes on.
 *
 * **Contract:** safe to repeat: the call is answered once. In a run that is being stopped it answers nothing: the settlement closes
 * what is open.
 */
export function createEndSubAgent(deps: Dependencies) {
  const { pool, log } = deps;
  return async function endSubAgent({ ending, ...step }: CallStep & { readonly ending: Ending }): Promise<ToolTurn> {
    const { runId, stepIndex } = step;
    const run = await readRun(pool, runId);
    if (run.cancel_requested_at !== null || run.settled_at !== null) return { outcome: 'cancelled' };
    const delegating = await findStep(pool, runId, stepIndex);
    if (delegating?.status !== 'running') return DONE;
    const { call } = await callOfStep(deps, step);
    const messages = await messagesOfSubAgent(pool, runId, stepIndex);
    const result = resultOf(ending, lastText(messages), await lastStepError(pool, runId, stepIndex));
    if (result.isError) {
      log.warn({ runId, stepIndex, ending }, 'sub-agent failed');
      await abandonSubAgent(pool, runId, stepIndex);
    }
    const message: ToolResultMessage = {
      role: 'tool-result',
      toolCallId: call.id,
      toolName: call.name,
      timestamp: Date.now(),
      ...result,
    };
    const ended = subAgentEnd(
      subAgentIdOf(runId, stepIndex),
      result,
      totalUsage(messages.flatMap((said) => (said.role === 'assistant' ? (said.usage ?? []) : []))),
    );
    await withOutputKept(deps, { tenantId: run.tenant_id, message, stepIndex, aside: {} }, async (kept) => {
      const at = Date.now();
      await endStep(pool, {
        runId,
        provider: 'builtin',
        writer: { stepIndex, attempt: ONLY_ATTEMPT },
        translate: translateBuiltinFrame,
        status: result.isError ? 'failed' : 'completed',
        frames: [ended, toolResult(message, { output: kept.output })].map((frame) => ({ at, frame })),
        artifacts:
          kept.output === null ? [] : [{ artifactId: kept.output.artifact.artifactId, name: kept.output.name }],
        messages: [message],
        result: JSON.stringify(DONE),
        contentHash: hash('sha256', canonicalJson(result.content)),
      });
    });
    crashPoint('sub-agent.ended');
    const events = new LoopEvents(deps.extensions, agentOf(run));
    events.toolEnded(message);
    await events.appended(message, async () => (await sessionHead(pool, runId)).revision);
    return DONE;
  };
}

function resultOf(
  ending: Ending,
  said: string,
  noted: { readonly code: string; readonly message: string } | null,
): AgentToolResult {
  if (ending.status === 'completed')
    return textResult(said === '' ? '(the sub-agent ended without a word)' : said, false);
  const why = 'code' in ending ? `failed: ${sentenceOf(ending.code, noted)}` : 'was stopped before it had ended';
  const rest = said === '' ? '' : `\nWhat it had said last:\n${said}`;
  return textResult(`error: the sub-agent ${why}.${rest}`, true);
}

function sentenceOf(code: ErrorCode, noted: { readonly code: string; readonly message: string } | null): string {
  return noted?.code === code ? noted.message : (SENTENCES[code] ?? `it could not be carried on (${code})`);
}

function textResult(text: string, isError: boolean): AgentToolResult {
  return { content: [{ type: 'text', text }], isError };
}

function lastText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return last === undefined ? '' : textOf(last.content);
}

import type { ToolCall, ToolResultMessage } from '../contract/agent-messages.ts';
import type { InterruptStatus } from '../contract/decision.ts';
import type { GatedCall, GatePlan } from '../contract/run-plan.ts';
import { crashPoint } from '../infra/crash-point.ts';
import { commitGate, type ToolReply } from '../infra/postgres/gate.ts';
import { expireInterrupts, interruptsOfRun, type InterruptRow } from '../infra/postgres/interrupt.ts';
import { assistantMessageOfStep } from '../infra/postgres/message.ts';
import type { InterruptRequest } from '../infra/postgres/new-interrupt.ts';
import { toolsOfStep } from './agent-of-step.ts';
import type { Dependencies } from './dependencies.ts';
import { toolResult } from './engines/builtin/frames.ts';
import { validateArguments } from './engines/builtin/tools/registry.ts';
import type { BuiltinTool } from './engines/builtin/tools/tool.ts';
import { translateBuiltinFrame } from './engines/builtin/translate.ts';

/**
 * Decides about the tool calls of a model step, in the order of the contract: exists → schema → approval or question
 * (source facts C.3), and commits what follows: interrupts, and answers to the calls that will not run.
 *
 * **Contract:** safe to repeat, and repeated while the run is parked: it tells how the calls stand now. Every call ends as `run`
 * or `answered`; none is ever dropped.
 */
export function createGateToolCalls(deps: Dependencies) {
  const { pool } = deps;
  return async function gateToolCalls({ runId, modelStep }: { runId: string; modelStep: number }): Promise<GatePlan> {
    const message = await assistantMessageOfStep(pool, runId, modelStep);
    const content = message?.role === 'assistant' ? message.content : [];
    const calls = content.filter((block) => block.type === 'tool-call');
    const tools = await toolsOfStep(deps, runId, modelStep);
    const expiresInMs = await expireInterrupts(pool, runId);
    let plan = await gate();
    // what was just asked may have been answered already: look once more, at one state of the rows
    if (plan.gated.some(({ request }) => request !== undefined)) {
      crashPoint('interrupt.committed');
      plan = await gate();
    }
    const untilNext = plan.pending.length === 0 ? null : (expiresInMs ?? (await expireInterrupts(pool, runId)));
    return { calls: plan.gated.map(({ call }) => call), pending: plan.pending, expiresInMs: untilNext };

    /** One look: what a call's state is and what is pending come from the same read of the interrupts. */
    async function gate(): Promise<{ gated: Gated[]; pending: string[] }> {
      const interrupts = await interruptsOfRun(pool, runId);
      const asked = new Map(interrupts.map((interrupt) => [interrupt.step_index, interrupt]));
      const gated = calls.map((call, index) => {
        const stepIndex = modelStep + 1 + index;
        return gateCall(tools.get(call.name), call, stepIndex, asked.get(stepIndex));
      });
      await commitGate(pool, {
        runId,
        modelStep,
        interrupts: gated.flatMap(({ request }) => request ?? []),
        replies: gated.flatMap(({ reply }) => reply ?? []),
        provider: 'builtin',
        translate: translateBuiltinFrame,
      });
      const isMine = ({ step_index: step }: InterruptRow) => step > modelStep && step <= modelStep + calls.length;
      const open = interrupts.filter((interrupt) => interrupt.status === 'pending' && isMine(interrupt));
      return { gated, pending: open.map((interrupt) => interrupt.interrupt_id) };
    }
  };
}

interface Gated {
  readonly call: GatedCall;
  readonly request?: InterruptRequest;
  readonly reply?: ToolReply;
}

function gateCall(
  tool: BuiltinTool | undefined,
  call: ToolCall,
  stepIndex: number,
  interrupt: InterruptRow | undefined,
): Gated {
  if (tool === undefined)
    return answered(call, stepIndex, 'unknown', `error: unknown tool: ${call.name.slice(0, 100)}`, true);
  if (call.argumentsError !== undefined) {
    const why = `error: invalid arguments for ${tool.name}: ${call.argumentsError}`;
    return answered(call, stepIndex, tool.name, why, true);
  }
  const checked = validateArguments(tool, call.arguments);
  if (!checked.ok) return answered(call, stepIndex, tool.name, checked.error, true);
  const delegates = tool.kind === 'delegate' ? ({ delegates: true } as const) : {};
  const base = { stepIndex, toolName: tool.name, parallelSafe: tool.parallelSafe, ...delegates };
  if (tool.kind !== 'question' && tool.approval === 'never') return { call: { ...base, state: 'run' } };
  if (interrupt === undefined) return { call: { ...base, state: 'ask' }, request: requestOf(call, tool, stepIndex) };
  if (interrupt.status === 'pending') return { call: { ...base, state: 'ask' } };
  if (interrupt.status === 'approved' || interrupt.status === 'edited') return { call: { ...base, state: 'run' } };
  const { text, isError } = replyTo(interrupt);
  return answered(call, stepIndex, tool.name, text, isError);
}

function requestOf(call: ToolCall, tool: BuiltinTool, stepIndex: number): InterruptRequest {
  const args = call.arguments;
  const common = {
    stepIndex,
    toolCallId: call.id,
    toolName: tool.name,
    arguments: args,
    schema: JSON.stringify(tool.parameters),
  };
  if (tool.kind === 'question') {
    const { prompt, options } = tool.question(args);
    return { ...common, kind: 'question', prompt, options };
  }
  return { ...common, kind: 'approval', prompt: tool.describe(args), options: ['approve', 'edit', 'reject'] };
}

type Closed = Exclude<InterruptStatus, 'pending' | 'approved' | 'edited'>;

/** What the model is told of an interrupt that ended without the tool being run. */
function replyTo(interrupt: InterruptRow): { text: string; isError: boolean } {
  const decision = JSON.parse(interrupt.decision ?? '{}') as { message?: string; values?: { answer?: string } };
  const because = decision.message === undefined ? '' : ` They said: ${decision.message}`;
  const texts: Record<Closed, { text: string; isError: boolean }> = {
    rejected: { text: `error: the user rejected this call; it was not run.${because}`, isError: true },
    answered: { text: decision.values?.answer ?? '', isError: false },
    dismissed: { text: 'error: the user dismissed the question without an answer.', isError: true },
    expired: { text: 'error: nobody answered in time; the call was not run.', isError: true },
    cancelled: { text: 'error: the run was cancelled; the call was not run.', isError: true },
  };
  return texts[interrupt.status as Closed];
}

function answered(call: ToolCall, stepIndex: number, toolName: string, text: string, isError: boolean): Gated {
  const message: ToolResultMessage = {
    role: 'tool-result',
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: 'text', text }],
    isError,
    timestamp: Date.now(),
  };
  const said = { stepIndex, toolName, parallelSafe: false, state: 'answered' } as const;
  return { call: said, reply: { message, frame: toolResult(message) } };
}

import type { ToolCall } from '../../contract/agent-messages.ts';
import { interruptOfStep } from '../../infra/postgres/interrupt.ts';
import { assistantMessageOfStep } from '../../infra/postgres/message.ts';
import { digestArguments } from '../../infra/postgres/new-interrupt.ts';
import type { Dependencies } from '../dependencies.ts';

/** The step of a tool call, and that of the model's message that makes it. */
export interface CallStep {
  readonly runId: string;
  readonly modelStep: number;
  readonly stepIndex: number;
}

export interface ApprovedCall {
  readonly call: ToolCall;
  /** A person has approved it, with these arguments. */
  readonly isApproved: boolean;
}

/** The call as it is to be run: the model's arguments, or the approver's; an approval binds the arguments it was given for. */
export async function callOfStep(
  { pool }: Pick<Dependencies, 'pool'>,
  { runId, modelStep, stepIndex }: CallStep,
): Promise<ApprovedCall> {
  const message = await assistantMessageOfStep(pool, runId, modelStep);
  const calls = message?.role === 'assistant' ? message.content.filter((block) => block.type === 'tool-call') : [];
  const call = calls[stepIndex - modelStep - 1];
  if (call === undefined) throw new Error(`run ${runId} has no tool call for step ${String(stepIndex)}`);
  const interrupt = await interruptOfStep(pool, runId, stepIndex);
  if (interrupt === null) return { call, isApproved: false };
  if (interrupt.args_digest !== digestArguments(call.arguments))
    throw new Error('the approval was given for other arguments');
  const decision = JSON.parse(interrupt.decision ?? 'null') as { edited_args?: Record<string, unknown> } | null;
  if (interrupt.status === 'edited' && decision?.edited_args !== undefined)
    return { call: { ...call, arguments: decision.edited_args }, isApproved: true };
  if (interrupt.status === 'approved') return { call, isApproved: true };
  throw new Error(`the call of step ${String(stepIndex)} is ${interrupt.status}, not approved`);
}

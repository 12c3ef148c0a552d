import type { NativeFrame } from '../../../contract/frames.ts';
import { entryOf, withoutEntry } from '../bounded-table.ts';
import { deniedFor } from '../hosted/open-calls.ts';
import { shownValue } from '../hosted/shown-value.ts';
import { end } from './calls.ts';
import { ApprovalResponse, GivenResult, Prompt } from './parts.ts';
import { textsOver } from './text-parts.ts';
import { saying, unknown, type AiSdkState, type Change, type Step } from './translation-state.ts';

/**
 * What the agent is sent: the run's input, and answers to what it asked.
 *
 * **Contract:** the platform says the input and the answers. Here an answer ends its tool where nothing else will: a refused call is
 * not carried out, and an answered question is its call's result. Of calls that are not open, as in a conversation told again, nothing is said.
 */
export function prompted(state: AiSdkState, frame: NativeFrame): Step {
  const prompt = Prompt.safeParse(frame).data;
  if (prompt === undefined) return unknown(state);
  const { state: closed, bodies } = textsOver(state);
  let next: AiSdkState = { ...closed, isCancelled: false };
  for (const answer of prompt.messages.flatMap(({ role, content }) => (role === 'tool' ? listOf(content) : []))) {
    const step = answered(next, answer);
    next = step.state;
    bodies.push(...step.bodies);
  }
  return saying(next, bodies, 'the platform says what is asked and what is answered');
}

/** An answer that the application gives by a rule of its own. */
export function decided(state: AiSdkState, part: unknown): Step {
  const response = ApprovalResponse.safeParse(part).data;
  if (response === undefined) return unknown(state);
  const { state: next, bodies } = answered(state, response);
  return saying(next, bodies, 'a call that a rule allowed');
}

function answered(state: AiSdkState, answer: unknown): Change {
  const response = ApprovalResponse.safeParse(answer).data;
  if (response !== undefined) return ofApproval(state, response);
  const given = GivenResult.safeParse(answer).data;
  if (given === undefined) return { state, bodies: [] };
  const { toolCallId, output } = given;
  if (output.type === 'execution-denied') return end(state, toolCallId, deniedFor(output.reason));
  if (!output.type.startsWith('error')) return end(state, toolCallId, { status: 'ok', output: output.value });
  return end(state, toolCallId, { status: 'error', error: shownValue(output.value) });
}

function ofApproval(state: AiSdkState, { approvalId, approved, reason }: ApprovalResponse): Change {
  const toolCallId = entryOf(state.approvals, approvalId);
  const next = { ...state, approvals: withoutEntry(state.approvals, approvalId) };
  if (approved || toolCallId === undefined) return { state: next, bodies: [] };
  return end(next, toolCallId, deniedFor(reason));
}

function listOf(content: unknown): unknown[] {
  return Array.isArray(content) ? content : [];
}

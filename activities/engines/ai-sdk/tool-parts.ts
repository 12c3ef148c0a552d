import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { withEntry } from '../bounded-table.ts';
import { keptOutput } from '../hosted/kept-output.ts';
import { DENIED, hasEnded } from '../hosted/open-calls.ts';
import { shownValue, thrownText } from '../hosted/shown-value.ts';
import { begin, end } from './calls.ts';
import { childUpdated, isChildCall } from './child-calls.ts';
import { ApprovalRequest, ToolCall, ToolError, ToolResult } from './parts.ts';
import { quiet, saying, unknown, type AiSdkState, type Step } from './translation-state.ts';

const LATE = 'late: its call has ended';
const APPROVALS_REMEMBERED = 200;

export function toolCalled(state: AiSdkState, part: unknown): Step {
  const call = ToolCall.safeParse(part).data;
  if (call === undefined) return unknown(state);
  const begun = begin(state, call, isChildCall(call.toolName));
  return saying(begun.state, begun.bodies, 'the call was said');
}

/** The platform asks; here the tool is said, for the case that it was not, and which approval is whose is remembered. */
export function approvalRequested(state: AiSdkState, part: unknown): Step {
  const request = ApprovalRequest.safeParse(part).data;
  if (request === undefined) return unknown(state);
  const { approvalId, toolCall } = request;
  if (hasEnded(state.calls, toolCall.toolCallId)) return quiet(state, LATE);
  const begun = begin(state, toolCall, isChildCall(toolCall.toolName));
  const approvals = withEntry(begun.state.approvals, approvalId, toolCall.toolCallId, APPROVALS_REMEMBERED);
  return saying({ ...begun.state, approvals }, begun.bodies, 'the platform asks');
}

/** A result that is preliminary tells how the work goes: each one has all of the output so far. */
export function toolReturned(state: AiSdkState, frame: NativeFrame): Step {
  const result = ToolResult.safeParse(frame['part']).data;
  if (result === undefined) return unknown(state);
  const { toolCallId, toolName, output, preliminary } = result;
  if (hasEnded(state.calls, toolCallId)) return quiet(state, LATE);
  const begun = begin(state, result, isChildCall(toolName, preliminary ? output : undefined));
  if (!preliminary) {
    const ended = end(begun.state, toolCallId, { status: 'ok', output, kept: keptOutput(frame) });
    return saying(ended.state, [...begun.bodies, ...ended.bodies]);
  }
  const { shownId } = begun.call;
  const preview = shownValue(output);
  const progress: CanonicalBody = begun.state.children.includes(toolCallId)
    ? childUpdated(shownId, output)
    : { kind: 'tool.progress', toolCallId: shownId, ...(preview === '' ? {} : { preview }) };
  return saying(begun.state, [...begun.bodies, progress]);
}

export function toolFailed(state: AiSdkState, part: unknown): Step {
  const failure = ToolError.safeParse(part).data;
  if (failure === undefined) return unknown(state);
  if (hasEnded(state.calls, failure.toolCallId)) return quiet(state, LATE);
  const begun = begin(state, failure, isChildCall(failure.toolName));
  const error = previewText(thrownText(failure.error), PREVIEW_LIMIT_CHARS) || 'the tool failed';
  const ended = end(begun.state, failure.toolCallId, { status: 'error', error });
  return saying(ended.state, [...begun.bodies, ...ended.bodies]);
}

export function toolDenied(state: AiSdkState, part: unknown): Step {
  const call = ToolCall.safeParse(part).data;
  if (call === undefined) return unknown(state);
  const denied = end(state, call.toolCallId, DENIED);
  return saying(denied.state, denied.bodies, 'its end was said with the decision');
}

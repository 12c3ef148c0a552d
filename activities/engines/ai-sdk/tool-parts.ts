import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { entryOf, withEntry } from '../acp/bounded-table.ts';
import { shownValue, thrownText } from '../hosted/shown-value.ts';
import { fileChangeOfTool } from '../hosted/tool-file-change.ts';
import { planOfTool } from '../hosted/tool-plan.ts';
import { childUpdated, isChildCall } from './child-calls.ts';
import { beginCall, DENIED, endCall, reopened } from './open-calls.ts';
import { ApprovalRequest, Kept, ToolCall, ToolError, ToolResult } from './parts.ts';
import { quiet, saying, TABLE_LIMITS, unknown, type AiSdkState, type Step } from './translation-state.ts';

const LATE = 'late: its call has ended';

export function toolCalled(state: AiSdkState, part: unknown): Step {
  const call = ToolCall.safeParse(part).data;
  if (call === undefined) return unknown(state);
  const begun = beginCall(reopened(state, call.toolCallId), call, isChildCall(call.toolName));
  return saying(begun.state, begun.bodies, 'the call was said');
}

/** The platform asks; here the tool is said, for the case that it was not, and which approval is whose is remembered. */
export function approvalRequested(state: AiSdkState, part: unknown): Step {
  const request = ApprovalRequest.safeParse(part).data;
  if (request === undefined) return unknown(state);
  const { approvalId, toolCall } = request;
  const begun = beginCall(state, toolCall, isChildCall(toolCall.toolName));
  const approvals = withEntry(begun.state.approvals, approvalId, toolCall.toolCallId, TABLE_LIMITS.approvals);
  return saying({ ...begun.state, approvals }, begun.bodies, 'the platform asks');
}

/** A result that is preliminary tells how the work goes: each one has all of the output so far. */
export function toolReturned(state: AiSdkState, frame: NativeFrame): Step {
  const result = ToolResult.safeParse(frame['part']).data;
  if (result === undefined) return unknown(state);
  const { toolCallId, toolName, output, input, preliminary } = result;
  if (state.ended.includes(toolCallId)) return quiet(state, LATE);
  const begun = beginCall(state, result, isChildCall(toolName, preliminary ? output : undefined));
  const { shownId, isChild } = begun.call;
  if (preliminary) {
    const preview = shownValue(output);
    const progress: CanonicalBody = isChild
      ? childUpdated(shownId, output)
      : { kind: 'tool.progress', toolCallId: shownId, ...(preview === '' ? {} : { preview }) };
    return saying(begun.state, [...begun.bodies, progress]);
  }
  const kept = Kept.safeParse(frame['kept']).data?.output;
  const ended = endCall(begun.state, toolCallId, { status: 'ok', output, artifact: kept?.artifact });
  const created: CanonicalBody[] = kept === undefined ? [] : [{ kind: 'artifact.created', ...kept }];
  const effects = [planOfTool(toolName, input), fileChangeOfTool(toolName, input)].filter((body) => body !== null);
  return saying(ended.state, [...begun.bodies, ...ended.bodies, ...created, ...effects]);
}

export function toolFailed(state: AiSdkState, part: unknown): Step {
  const failure = ToolError.safeParse(part).data;
  if (failure === undefined) return unknown(state);
  if (state.ended.includes(failure.toolCallId)) return quiet(state, LATE);
  const begun = beginCall(state, failure, isChildCall(failure.toolName));
  const error = previewText(thrownText(failure.error), PREVIEW_LIMIT_CHARS) || 'the tool failed';
  const ended = endCall(begun.state, failure.toolCallId, { status: 'error', error });
  return saying(ended.state, [...begun.bodies, ...ended.bodies]);
}

export function toolDenied(state: AiSdkState, part: unknown): Step {
  const call = ToolCall.safeParse(part).data;
  if (call === undefined) return unknown(state);
  const why = 'its end was said with the decision';
  if (entryOf(state.calls, call.toolCallId) === undefined) return quiet(state, why);
  const denied = endCall(state, call.toolCallId, DENIED);
  return saying(denied.state, denied.bodies, why);
}

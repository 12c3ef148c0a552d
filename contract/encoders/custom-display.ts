import type { ApprovalInterrupt, FormInterrupt, FormField, ToolApproval } from '../lifecycle.ts';
import { TOOL_RESULT_DISPLAY_CHARS } from '../lifecycle-limits.ts';

/** `...[<how many were cut> chars]`, at the end of a text that was cut. */
const CUT_MARK = /\.\.\.\[\d{1,15} chars\]$/;

/**
 * A tool's text as the existing protocols show it: at most 2,000 characters, then how many more there are. Characters are
 * code points, as Python counts them. A text that was cut before keeps its own mark.
 */
export function displayText(text: string): string {
  if (text.length <= TOOL_RESULT_DISPLAY_CHARS || isCut(text)) return text;
  const points = Array.from(text);
  const more = points.length - TOOL_RESULT_DISPLAY_CHARS;
  return more <= 0 ? text : `${points.slice(0, TOOL_RESULT_DISPLAY_CHARS).join('')}...[${String(more)} chars]`;
}

function isCut(text: string): boolean {
  const mark = text.search(CUT_MARK);
  return mark >= 0 && mark <= TOOL_RESULT_DISPLAY_CHARS;
}

/** A form's question. The keys of a field stand in the order of the existing protocols. */
export function formRequest({ prompt, fields }: FormInterrupt) {
  return { prompt, fields: fields.map(formField) };
}

/** The calls that wait: the first is shown alone, the list only when there are more. */
export function approvalRequest({ tool_approvals }: ApprovalInterrupt) {
  const [first] = tool_approvals;
  const request = {
    tool_name: first?.tool_name,
    tool_args: first?.tool_args,
    allowed_decisions: first?.allowed_decisions,
  };
  return { request, several: tool_approvals.length > 1 ? { tool_approvals: tool_approvals.map(approval) } : {} };
}

function formField(field: FormField) {
  const { field_name, field_label, field_description, field_type, field_values } = field;
  const { required, default_value, placeholder, value } = field;
  return {
    ...{ field_name, field_label, field_description, field_type, field_values },
    ...{ required, default_value, placeholder, value },
  };
}

function approval({ tool_name, tool_args, tool_call_id, allowed_decisions }: ToolApproval): ToolApproval {
  return { tool_name, tool_args, tool_call_id, allowed_decisions };
}

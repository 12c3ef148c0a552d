import * as limit from './lifecycle-limits.ts';
import type { AskedQuestion, PendingInterrupt } from './lifecycle-projection-state.ts';
import { argumentsOf, boundedText, lifecycleId } from './lifecycle-values.ts';
import { ApprovalDecision, type FormField, type LifecycleData, type ToolApproval } from './lifecycle.ts';

/**
 * All that a run waits for, as the one `interrupt.requested` that a leg may have (rule 8): questions alone are a form; as soon as
 * there is an approval among them everything is a gated call, and a question is the call that asks it, to be edited (answered)
 * or rejected (dismissed). The id is that of the first.
 */
export function interruptOf(
  pending: readonly PendingInterrupt[],
  rootAgentId: string,
): LifecycleData<'interrupt.requested'> {
  const [first] = pending;
  const agents = new Set(pending.map(({ agentId }) => agentId));
  const common = {
    interrupt_id: lifecycleId(first?.interruptId ?? ''),
    agent_id: agents.size === 1 && first !== undefined ? first.agentId : rootAgentId,
  };
  if (pending.every(({ kind }) => kind === 'question')) {
    const fields = pending.flatMap((question) => fieldsOf(question, pending.length === 1));
    const prompt = pending.length === 1 ? (first?.prompt ?? '') : 'There are several questions.';
    return {
      ...common,
      interrupt_type: 'form_input',
      prompt: boundedText(prompt, limit.PROMPT_LIMIT_CHARS),
      fields: fields.slice(0, limit.FORM_FIELDS_LIMIT),
    };
  }
  const ids = callIdsOf(pending);
  const calls = pending.slice(0, limit.TOOL_APPROVALS_LIMIT).map((asked, i) => gatedCall(asked, ids[i] ?? ''));
  return { ...common, interrupt_type: 'tool_approval', tool_approvals: calls };
}

/** The id by which each is told apart in the interrupt: its call's, or its own where that is another's too. */
export function callIdsOf(pending: readonly PendingInterrupt[]): string[] {
  return pending.map(({ toolCallId, interruptId }, i) => {
    const first = pending.findIndex((other) => other.toolCallId === toolCallId);
    return first < i ? lifecycleId(interruptId) : toolCallId;
  });
}

function gatedCall({ kind, toolName, args, prompt, options }: PendingInterrupt, tool_call_id: string): ToolApproval {
  return kind === 'approval'
    ? { tool_call_id, tool_name: toolName, tool_args: { ...args }, allowed_decisions: decisionsOf(options) }
    : {
        tool_call_id,
        tool_name: toolName,
        tool_args: argumentsOf({ prompt, options }),
        allowed_decisions: ['edit', 'reject'],
      };
}

/** The contract's decisions among an engine's options; an engine with options of its own can be told yes or no. */
function decisionsOf(options: readonly string[]): ApprovalDecision[] {
  const known = ApprovalDecision.options.filter((decision) => options.includes(decision));
  return known.length > 0 ? known : ['approve', 'reject'];
}

/** A lone question's fields have the names under which REST takes their values; of several each is named by its interrupt's id. */
function fieldsOf(question: PendingInterrupt, isAlone: boolean): FormField[] {
  const names = fieldNamesOf(question, isAlone);
  return askedOf(question).map((asked, i) => fieldOf(names[i]?.field ?? '', asked));
}

/** Of each field of a question: its name in the form, and the key of its value in an answer. */
export function fieldNamesOf(question: PendingInterrupt, isAlone: boolean): { field: string; key: string }[] {
  return askedOf(question).map(({ name }, i) => {
    const key = name ?? (i === 0 ? 'answer' : `answer_${String(i + 1)}`);
    const shared = lifecycleId(question.interruptId);
    return { field: isAlone ? lifecycleId(key) : i === 0 ? shared : `${shared}_${String(i + 1)}`, key };
  });
}

function askedOf({ prompt, options, questions }: PendingInterrupt): readonly AskedQuestion[] {
  return questions.length > 0 ? questions : [{ prompt, options, multiple: false }];
}

function fieldOf(field_name: string, { prompt, options, multiple }: AskedQuestion): FormField {
  const field_label = boundedText(prompt, limit.PROMPT_LIMIT_CHARS);
  const values = options
    .slice(0, limit.FIELD_VALUES_LIMIT)
    .map((option) => boundedText(option, limit.PROMPT_LIMIT_CHARS));
  if (values.length === 0) return { field_name, field_label, field_type: 'text', required: true };
  return {
    field_name,
    field_label,
    field_type: multiple ? 'multiselect' : 'select',
    field_values: values,
    required: true,
  };
}

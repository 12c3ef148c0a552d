import type { FormField, FormValues } from '../../../contract/form.ts';
import { previewText } from '../../../contract/frames.ts';
import type {
  ApprovalInterrupt,
  FormInterrupt,
  LifecycleData,
  FormField as NativeField,
} from '../../../contract/lifecycle.ts';
import type { z } from 'zod';
import type { EngineAnswer, EngineQuestion } from '../driver.ts';
import type { LifecycleDecision, ToolDecision } from './adapter.ts';

export type Interrupt = LifecycleData<'interrupt.requested'>;
type Form = Readonly<z.infer<typeof FormInterrupt>>;
type Approval = Readonly<z.infer<typeof ApprovalInterrupt>>;

const LABEL_CHARS = 900;
const NAME_CHARS = 200;
const PROMPT_CHARS = 9_000;
const UNANSWERED = 'nobody answered in time';

/** What an interrupt asks: a form is one question, an approval one for each tool. `streamId` makes the ids unique in the session. */
export function questionsOf(interrupt: Interrupt, streamId: string): EngineQuestion[] {
  const nativeId = `${streamId}:${interrupt.interrupt_id}`;
  if (interrupt.interrupt_type === 'form_input') {
    const { prompt, fields } = interrupt;
    return [
      { kind: 'question', nativeId, toolCallId: null, toolName: 'form_input', prompt, fields: fields.map(fieldOf) },
    ];
  }
  return interrupt.tool_approvals.map((call): EngineQuestion => ({
    kind: 'approval',
    nativeId: `${nativeId}:${call.tool_call_id}`,
    toolCallId: call.tool_call_id,
    toolName: call.tool_name,
    arguments: call.tool_args,
    prompt: `May ${call.tool_name} run?`,
    options: call.allowed_decisions,
    schema: null,
  }));
}

/** The answers, one for each question, as the adapter takes them; null when the turn ends without them. */
export function decisionOf(interrupt: Interrupt, answers: readonly EngineAnswer[]): LifecycleDecision | null {
  if (answers.some(({ status }) => status === 'cancelled')) return null;
  if (interrupt.interrupt_type === 'form_input') return formDecision(interrupt, answers[0]);
  return { type: 'tool_approval', decisions: toolDecisions(interrupt, answers) };
}

function formDecision({ fields }: Form, answer: EngineAnswer | undefined): LifecycleDecision {
  if (answer?.status !== 'answered') return { type: 'form_input', dismissed: true };
  const named = fields.map((field, i) => [field, answer.values[fieldName(field, i)]] as const);
  const values = named.flatMap(([field, value]) =>
    value === undefined ? [] : [[field.field_name, valueOf(field, value)]],
  );
  return { type: 'form_input', values: Object.fromEntries(values) as Record<string, unknown> };
}

function toolDecisions({ tool_approvals: calls }: Approval, answers: readonly EngineAnswer[]): ToolDecision[] {
  return calls.map(({ tool_call_id, tool_name }, i): ToolDecision => {
    const answer = answers[i];
    const call = { tool_call_id, tool_name };
    switch (answer?.status) {
      case 'approved':
        return { ...call, decision: 'approve' };
      case 'edited':
        return { ...call, decision: 'edit', edited_args: answer.arguments };
      case 'rejected':
        return { ...call, decision: 'reject', ...(answer.message === null ? {} : { message: answer.message }) };
      case 'answered':
      case 'dismissed':
      case 'expired':
      case 'cancelled':
      case undefined:
        return { ...call, decision: 'reject', message: UNANSWERED };
    }
  });
}

function fieldOf(field: NativeField, index: number): FormField {
  const { field_label, field_description, field_type, field_values = [], required } = field;
  const words = [field_label ?? field.field_name, field_description].filter(
    (text) => text !== undefined && text !== '',
  );
  return {
    name: fieldName(field, index),
    prompt: previewText(words.join(': '), PROMPT_CHARS),
    type: field_type === 'boolean' || field_type === 'number' ? field_type : isChoice(field) ? 'choice' : 'text',
    options: isChoice(field) ? field_values.map((value) => ({ label: labelOf(value) })) : [],
    multiple: field_type === 'multiselect',
    custom: false,
    required,
  };
}

function isChoice({ field_type, field_values = [] }: NativeField): boolean {
  return (field_type === 'select' || field_type === 'multiselect') && field_values.length > 0;
}

/** The contract's names may be longer than a form's. */
function fieldName({ field_name }: NativeField, index: number): string {
  return field_name.length <= NAME_CHARS ? field_name : `field_${String(index + 1)}`;
}

function labelOf(value: string): string {
  return previewText(value, LABEL_CHARS);
}

function valueOf(field: NativeField, value: FormValues[string]): FormValues[string] {
  if (!isChoice(field)) return value;
  const behind = (label: string): string => field.field_values?.find((each) => labelOf(each) === label) ?? label;
  if (Array.isArray(value)) return value.map(behind);
  const chosen = behind(String(value));
  return field.field_type === 'multiselect' ? [chosen] : chosen;
}

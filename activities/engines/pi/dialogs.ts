import { z } from 'zod';
import { ANSWER_FIELD, answerText, type FormField } from '../../../contract/form.ts';
import { previewText } from '../../../contract/frames.ts';
import type { EngineAnswer, EngineQuestion } from '../driver.ts';
import { APPROVAL_TITLE, QUESTION_TITLE, QUESTION_TOOL, type ApprovalAnswer } from './extension/protocol.ts';
import type { UiRequest } from './pi-schema.ts';

const PROMPT_CHARS = 9_000;
const LABEL_CHARS = 900;
const DESCRIPTION_CHARS = 3_900;
/** Who asks, of a dialog that another extension of pi opens. */
const EXTENSION = 'extension';

/** What a dialog is answered with. */
export type DialogValue = { readonly value: string } | { readonly confirmed: boolean } | { readonly cancelled: true };

/** A dialog of pi as a question to a person. */
export interface Dialog {
  readonly question: EngineQuestion;
  valueOf(answer: EngineAnswer): DialogValue;
}

/** Nobody answers: what was asked for is not granted. */
export const DISMISSED: DialogValue = { cancelled: true };
const jsonObject = z.record(z.string(), z.unknown());

const ApprovalRequest = z.object({
  toolCallId: z.string().min(1),
  toolName: z.string().min(1),
  input: jsonObject,
  schema: jsonObject.nullable().catch(null),
});
const QuestionRequest = z.object({
  toolCallId: z.string().min(1),
  question: z.string(),
  options: z.array(z.object({ label: z.string().min(1), description: z.string().optional() })).catch([]),
});

/**
 * A dialog that an extension opens, as a question to a person; null for one that cannot be read, and is to be dismissed.
 *
 * **Contract:** the value grants a call only where a person granted it: any other answer, and none at all, is a dialog that was
 * dismissed, which blocks it.
 */
export function dialogOf(request: UiRequest): Dialog | null {
  if (request.method === 'input' && request.title === APPROVAL_TITLE) return approval(request);
  if (request.method === 'input' && request.title === QUESTION_TITLE) return questionOfTool(request);
  switch (request.method) {
    case 'select':
      return selection(request);
    case 'confirm':
      return confirmation(request);
    case 'input':
      return text(request, request.title);
    case 'editor':
      return text(request, [request.title, request.prefill ?? ''].filter((part) => part !== '').join('\n\n'));
    default:
      return null;
  }
}

function approval({ id: nativeId, placeholder }: UiRequest): Dialog | null {
  const asked = ApprovalRequest.safeParse(jsonIn(placeholder)).data;
  if (asked === undefined) return null;
  const { toolCallId, toolName, input, schema } = asked;
  const named = [input['command'], input['path']].find((value) => typeof value === 'string') ?? '';
  return {
    question: {
      kind: 'approval',
      nativeId,
      toolCallId,
      toolName,
      arguments: input,
      prompt: previewText(`${toolName}: ${named}`, PROMPT_CHARS),
      options: ['approve', 'always', 'edit', 'reject'],
      schema,
    },
    valueOf(answer) {
      const decision = decisionOf(answer);
      return decision === null ? DISMISSED : { value: JSON.stringify(decision) };
    },
  };
}

function decisionOf(answer: EngineAnswer): ApprovalAnswer | null {
  switch (answer.status) {
    case 'approved':
      return { decision: answer.always ? 'always' : 'approve' };
    case 'edited':
      return { decision: 'edit', input: answer.arguments };
    case 'rejected':
      return { decision: 'reject', message: answer.message ?? '' };
    case 'answered':
    case 'dismissed':
    case 'expired':
    case 'cancelled':
      return null;
  }
}

function questionOfTool(request: UiRequest): Dialog | null {
  const asked = QuestionRequest.safeParse(jsonIn(request.placeholder)).data;
  if (asked === undefined) return null;
  const { toolCallId, question: prompt, options } = asked;
  const field: FormField = options.length === 0 ? ANSWER_FIELD : { ...choiceOf(options), custom: true };
  return {
    question: { ...questionOf(request, { prompt, field }), toolCallId, toolName: QUESTION_TOOL },
    valueOf: textOf,
  };
}

/** An option is answered with as the extension gave it, also where only its beginning is shown. */
function selection(request: UiRequest): Dialog {
  const { title: prompt, options } = request;
  const field = choiceOf(options.map((label) => ({ label })));
  const behind = new Map(options.map((option) => [labelOf(option), option]));
  return {
    question: questionOf(request, { prompt, field }),
    valueOf(answer) {
      const value = textOf(answer);
      return 'value' in value ? { value: behind.get(value.value) ?? value.value } : value;
    },
  };
}

function confirmation(request: UiRequest): Dialog {
  const field: FormField = { ...ANSWER_FIELD, type: 'boolean', custom: false };
  const prompt = [request.title, request.message].filter((part) => part !== '').join('\n');
  return {
    question: questionOf(request, { prompt, field }),
    valueOf: (answer) => {
      return answer.status === 'answered' ? { confirmed: answer.values[field.name] === true } : DISMISSED;
    },
  };
}

function text(request: UiRequest, prompt: string): Dialog {
  return { question: questionOf(request, { prompt, field: ANSWER_FIELD }), valueOf: textOf };
}

function questionOf(
  { id: nativeId }: UiRequest,
  { prompt, field }: { prompt: string; field: FormField },
): Extract<EngineQuestion, { kind: 'question' }> {
  return {
    kind: 'question',
    nativeId,
    toolCallId: null,
    toolName: EXTENSION,
    prompt: previewText(prompt, PROMPT_CHARS),
    fields: [field],
  };
}

function choiceOf(options: readonly { label: string; description?: string | undefined }[]): FormField {
  return {
    ...ANSWER_FIELD,
    type: 'choice',
    custom: false,
    options: options.map(({ label, description }) => ({
      label: labelOf(label),
      ...(description === undefined ? {} : { description: previewText(description, DESCRIPTION_CHARS) }),
    })),
  };
}

function labelOf(option: string): string {
  return previewText(option, LABEL_CHARS);
}

function textOf(answer: EngineAnswer): DialogValue {
  return answer.status === 'answered' ? { value: answerText(answer.values) } : DISMISSED;
}

function jsonIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

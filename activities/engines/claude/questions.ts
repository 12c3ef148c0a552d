import { z } from 'zod';
import type { FormField, FormValues } from '../../../contract/form.ts';
import { previewText } from '../../../contract/frames.ts';
import type { EngineAnswer, EngineQuestion } from '../driver.ts';
import { ElicitationRequest, elicitationResponse, fieldsOf } from '../wire/elicitation.ts';
import { rejection, type PermissionRequest, type PermissionResult } from './approval.ts';

const PROMPT_CHARS = 9_000;
const LABEL_CHARS = 900;
const DESCRIPTION_CHARS = 3_900;
const ASKS = 'AskUserQuestion';

const Question = z.object({
  question: z.string().min(1),
  header: z.string().catch(''),
  multiSelect: z.boolean().catch(false),
  options: z.array(z.object({ label: z.string(), description: z.string().catch('') })).catch([]),
});
type Question = z.infer<typeof Question>;
const Asked = z.looseObject({ questions: z.array(Question).min(1).max(100) });

const ServerElicitation = z.object({
  mcp_server_name: z.string().catch('MCP server'),
  message: z.string().catch(''),
  mode: z.string().catch('form'),
  url: z.string().nullish().catch(null),
  requested_schema: z.unknown().optional(),
});

export interface AskedQuestion {
  readonly question: EngineQuestion;
  resultOf(answer: EngineAnswer): object;
}

/** What the model asks of a person by its own tool; null for a call that is no question. */
export function questionOf(nativeId: string, request: PermissionRequest): AskedQuestion | null {
  const asked = request.tool_name === ASKS ? Asked.safeParse(request.input).data : undefined;
  if (asked === undefined) return null;
  const { questions } = asked;
  return {
    question: {
      kind: 'question',
      nativeId,
      toolCallId: request.tool_use_id,
      toolName: ASKS,
      prompt: previewText(questions.map(({ question }) => question).join('\n'), PROMPT_CHARS),
      fields: questions.map(fieldOf),
    },
    resultOf: (answer): PermissionResult => {
      if (answer.status === 'answered') {
        return { behavior: 'allow', updatedInput: { ...request.input, answers: answersOf(questions, answer.values) } };
      }
      return { behavior: 'deny', message: rejection(answer.status === 'expired' ? 'nobody has answered' : null) };
    },
  };
}

/** What an MCP server asks of a person. */
export function elicitationOf(nativeId: string, request: unknown): AskedQuestion | null {
  const server = ServerElicitation.safeParse(request).data;
  if (server === undefined) return null;
  const { mcp_server_name: toolName, message, mode, url, requested_schema: requestedSchema } = server;
  const form = ElicitationRequest.parse({ mode, message, requestedSchema });
  return {
    question: {
      kind: 'question',
      nativeId,
      toolCallId: null,
      toolName,
      prompt: previewText(url == null ? message : `${message}\n${url}`, PROMPT_CHARS),
      fields: fieldsOf(form),
    },
    resultOf: (answer) => elicitationResponse(form, answer),
  };
}

/** A field's name is its question's place: the questions themselves may be long. */
function fieldOf({ header, question, multiSelect: multiple, options }: Question, index: number): FormField {
  return {
    name: nameOf(index),
    prompt: previewText([header, question].filter((text) => text !== '').join(': '), PROMPT_CHARS),
    type: options.length > 0 ? 'choice' : 'text',
    options: options.map(({ label, description }) => ({
      label: previewText(label, LABEL_CHARS),
      ...(description === '' ? {} : { description: previewText(description, DESCRIPTION_CHARS) }),
    })),
    multiple,
    custom: true,
    required: true,
  };
}

/** By the question itself, as the program takes them. */
function answersOf(questions: readonly Question[], values: FormValues): Readonly<Record<string, string>> {
  const answered = questions.flatMap(({ question }, index) => {
    const value = Object.hasOwn(values, nameOf(index)) ? values[nameOf(index)] : undefined;
    return value === undefined ? [] : [[question, Array.isArray(value) ? value.join(', ') : String(value)] as const];
  });
  return Object.fromEntries(answered);
}

function nameOf(index: number): string {
  return `question_${String(index)}`;
}

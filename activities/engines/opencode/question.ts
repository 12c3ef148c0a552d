import { z } from 'zod';
import type { FormField } from '../../../contract/form.ts';
import { previewText } from '../../../contract/frames.ts';
import type { EngineAnswer, EngineQuestion } from '../driver.ts';

const PROMPT_CHARS = 9_000;
const LABEL_CHARS = 900;
const DESCRIPTION_CHARS = 3_900;

const Question = z.object({
  question: z.string().catch(''),
  header: z.string().catch(''),
  options: z.array(z.object({ label: z.string(), description: z.string().nullish().catch(null) })).catch([]),
  multiple: z.boolean().nullish().catch(null),
  custom: z.boolean().nullish().catch(null),
});
export const QuestionAsked = z.object({
  id: z.string().min(1),
  sessionID: z.string().min(1),
  questions: z.array(Question).min(1),
  tool: z
    .object({ callID: z.string().min(1) })
    .nullish()
    .catch(null),
});
export type QuestionAsked = z.infer<typeof QuestionAsked>;

/** What the model asks of a person; `toolCallId` is the call by which it asks. */
export function questionOf({ id, questions }: QuestionAsked, toolCallId: string | null): EngineQuestion {
  return {
    kind: 'question',
    nativeId: id,
    toolCallId,
    toolName: 'question',
    prompt: previewText(questions.map(({ question }) => question).join('\n'), PROMPT_CHARS),
    fields: questions.map(fieldOf),
  };
}

/** The answers in the order of the questions, each as the labels that were chosen; null when nobody answered. */
export function answersOf({ questions }: QuestionAsked, answer: EngineAnswer): string[][] | null {
  if (answer.status !== 'answered') return null;
  const { values } = answer;
  return questions.map((_, index) => {
    const value = values[nameOf(index)];
    if (value === undefined) return [];
    return Array.isArray(value) ? value : [String(value)];
  });
}

/** A question has no name of its own. */
function nameOf(index: number): string {
  return `answer${String(index + 1)}`;
}

function fieldOf({ question, header, options, multiple, custom }: z.infer<typeof Question>, index: number): FormField {
  return {
    name: nameOf(index),
    prompt: previewText([header, question].filter((text) => text !== '').join(': '), PROMPT_CHARS),
    type: options.length > 0 ? 'choice' : 'text',
    options: options.map(({ label, description }) => ({
      label: previewText(label, LABEL_CHARS),
      ...(description == null ? {} : { description: previewText(description, DESCRIPTION_CHARS) }),
    })),
    multiple: multiple === true,
    custom: custom !== false || options.length === 0,
    required: true,
  };
}

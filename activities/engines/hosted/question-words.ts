import type { FormField } from '../../../contract/form.ts';
import { previewText } from '../../../contract/frames.ts';
import { plainJson } from './plain-json.ts';

const PROMPT_CHARS = 9_000;
const LABEL_CHARS = 900;
const DESCRIPTION_CHARS = 3_900;
const MOST_OPTIONS = 200;

/** The field whose value is the answer. */
export const ANSWER = 'answer';
const PROMPTS = ['question', 'prompt', 'message', 'text', 'description'] as const;
const CHOICES = ['options', 'choices'] as const;

/** What an agent asks with a value of its own, put in words: a text, or an object that has one, and may have what can be chosen. */
export function questionWords(value: unknown): { readonly prompt: string; readonly fields: readonly [FormField] } {
  const said = plainJson(value);
  const fields = typeof said === 'object' && said !== null ? (said as Readonly<Record<string, unknown>>) : {};
  const named = PROMPTS.map((name) => fields[name]).find((text) => typeof text === 'string' && text !== '');
  const prompt = typeof said === 'string' ? said : typeof named === 'string' ? named : JSON.stringify(said);
  const options = CHOICES.map((name) => fields[name]).find(Array.isArray) ?? [];
  return { prompt: previewText(prompt, PROMPT_CHARS), fields: [answerField(options.flatMap(optionOf))] };
}

function answerField(options: FormField['options']): FormField {
  return {
    name: ANSWER,
    prompt: '',
    type: options.length > 0 ? 'choice' : 'text',
    options: options.slice(0, MOST_OPTIONS),
    multiple: false,
    custom: true,
    required: true,
  };
}

function optionOf(option: unknown): FormField['options'] {
  if (typeof option === 'string') return [{ label: previewText(option, LABEL_CHARS) }];
  const { label, value, description } = (option ?? {}) as Readonly<Record<string, unknown>>;
  const shown = [label, value].find((text) => typeof text === 'string');
  if (typeof shown !== 'string') return [];
  return [
    {
      label: previewText(shown, LABEL_CHARS),
      ...(typeof description === 'string' ? { description: previewText(description, DESCRIPTION_CHARS) } : {}),
    },
  ];
}

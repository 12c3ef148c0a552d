import { z } from 'zod';
import type { FormField, FormValues } from '../../../contract/form.ts';
import { previewText } from '../../../contract/frames.ts';
import type { EngineAnswer } from '../driver.ts';

const LABEL_CHARS = 900;

const Choice = z.object({
  const: z.string(),
  title: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
});
const choices = z.array(Choice).nullish().catch(null);
const words = z.array(z.string()).nullish().catch(null);

/** One value of a form, of the part of JSON Schema that ACP has for it. */
const Property = z.object({
  type: z.string().catch('string'),
  title: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
  enum: words,
  oneOf: choices,
  items: z.object({ enum: words, anyOf: choices, oneOf: choices }).nullish().catch(null),
});
type Property = z.infer<typeof Property>;

export const ElicitationRequest = z.object({
  mode: z.string().catch('form'),
  message: z.string().catch(''),
  toolCallId: z.string().nullish().catch(null),
  requestedSchema: z
    .object({
      properties: z.record(z.string(), Property).catch({}),
      required: z.array(z.string()).nullish().catch(null),
    })
    .catch({ properties: {}, required: null }),
});
export type ElicitationRequest = z.infer<typeof ElicitationRequest>;

export type ElicitationResponse = { action: 'accept'; content: FormValues } | { action: 'decline' | 'cancel' };

/** Asked where a form has no values of its own: whether to go on at all. */
const CONFIRM: FormField = { ...blank('confirmed'), type: 'boolean' };

/** The fields that a form asks for. */
export function fieldsOf({ requestedSchema }: ElicitationRequest): FormField[] {
  const required = new Set(requestedSchema.required ?? []);
  const fields = Object.entries(requestedSchema.properties).map(([name, property]): FormField => {
    const { title, description } = property;
    const prompt = previewText([title, description].filter((text) => text != null && text !== '').join(': '), 9_000);
    const field = { ...blank(name), prompt, required: required.has(name) };
    const options = choicesOf(property);
    if (options !== null) {
      return { ...field, type: 'choice', options: options.map(optionOf), multiple: property.type === 'array' };
    }
    if (property.type === 'boolean') return { ...field, type: 'boolean' };
    return { ...field, type: property.type === 'number' || property.type === 'integer' ? 'number' : 'text' };
  });
  return fields.length === 0 ? [CONFIRM] : fields;
}

/** The answer as the agent takes it: a choice by the value behind its label. */
export function elicitationResponse(request: ElicitationRequest, answer: EngineAnswer): ElicitationResponse {
  if (answer.status === 'dismissed' || answer.status === 'rejected') return { action: 'decline' };
  if (answer.status !== 'answered') return { action: 'cancel' };
  const { properties } = request.requestedSchema;
  if (Object.keys(properties).length === 0) {
    return answer.values[CONFIRM.name] === false ? { action: 'decline' } : { action: 'accept', content: {} };
  }
  const content = Object.entries(answer.values).flatMap(([name, value]): [string, FormValues[string]][] => {
    const property = properties[name];
    return property === undefined ? [] : [[name, valueOf(property, value)]];
  });
  return { action: 'accept', content: Object.fromEntries(content) };
}

function valueOf(property: Property, value: FormValues[string]): FormValues[string] {
  const options = choicesOf(property);
  const behind = (label: string): string => options?.find((choice) => labelOf(choice) === label)?.const ?? label;
  if (property.type === 'array') return (Array.isArray(value) ? value : [String(value)]).map(behind);
  if (property.type === 'integer' && typeof value === 'number') return Math.trunc(value);
  return typeof value === 'string' ? behind(value) : value;
}

function choicesOf({ enum: named, oneOf, items }: Property): z.infer<typeof Choice>[] | null {
  const listed = oneOf ?? items?.anyOf ?? items?.oneOf;
  if (listed != null) return listed;
  const values = named ?? items?.enum;
  return values == null ? null : values.map((value) => ({ const: value, title: null, description: null }));
}

function optionOf(choice: z.infer<typeof Choice>): FormField['options'][number] {
  const { description } = choice;
  const label = labelOf(choice);
  return description == null ? { label } : { label, description: previewText(description, 3_900) };
}

function labelOf({ title, const: value }: z.infer<typeof Choice>): string {
  return previewText(title == null || title === '' ? value : title, LABEL_CHARS);
}

function blank(name: string): FormField {
  return { name, prompt: '', type: 'text', options: [], multiple: false, custom: false, required: true };
}

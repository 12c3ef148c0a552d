import { z } from 'zod';
import { TidemarkError } from './errors.ts';

/** One value that a question asks for. A question without fields asks for one text, `answer`. */
export const FormField = z.strictObject({
  /** The key of its value. */
  name: z.string().min(1).max(200),
  prompt: z.string().max(10_000),
  type: z.enum(['text', 'number', 'boolean', 'choice']),
  /** Of a choice: what may be chosen. */
  options: z
    .array(z.strictObject({ label: z.string().max(1_000), description: z.string().max(4_000).optional() }))
    .max(200),
  /** A choice takes several of its options, as a list. */
  multiple: z.boolean(),
  /** A choice takes a text that is none of its options too. */
  custom: z.boolean(),
  required: z.boolean(),
});
export type FormField = z.infer<typeof FormField>;

/** At least one value; a text of at most 100,000 characters. */
export const FormValuesSchema = z
  .record(
    z.string().max(200),
    z.union([z.string().max(100_000), z.number(), z.boolean(), z.array(z.string().max(10_000)).max(200)]),
  )
  .refine((values) => Object.keys(values).length > 0, 'takes at least one value')
  .refine((values) => Object.keys(values).length <= 200, 'takes at most 200 values');
export type FormValues = z.infer<typeof FormValuesSchema>;

/** The values as they are kept: a question of one field takes its value as `answer` too, and a text takes a list as its lines. */
export function namedValues(fields: readonly FormField[], values: FormValues): FormValues {
  const asked = fields.length === 0 ? [ANSWER_FIELD] : fields;
  const [only] = asked;
  const isAlias = asked.length === 1 && only !== undefined && !Object.hasOwn(values, only.name);
  const { answer, ...rest } = values;
  const named = isAlias && answer !== undefined ? { ...rest, [only.name]: answer } : values;
  const texts = new Set(asked.filter(({ type }) => type === 'text').map(({ name }) => name));
  const entries = Object.entries(named).map(([name, value]): [string, FormValues[string]] => {
    return [name, texts.has(name) && Array.isArray(value) ? value.join(', ') : value];
  });
  return Object.fromEntries(entries);
}

/** The values of an answer as one line of text. */
export function answerText(values: FormValues): string {
  const shown = (value: FormValues[string]): string => (Array.isArray(value) ? value.join(', ') : String(value));
  const entries = Object.entries(values);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) return shown(only[1]);
  return entries.map(([name, value]) => `${name}: ${shown(value)}`).join('; ');
}

/** What a question without fields of its own asks for. */
export const ANSWER_FIELD: FormField = {
  name: 'answer',
  prompt: '',
  type: 'text',
  options: [],
  multiple: false,
  custom: true,
  required: true,
};

/**
 * Holds the values of an answer against the fields that were asked for.
 *
 * @throws TidemarkError `decision_not_allowed` with the field at fault: a value that is missing, of another type, none of the
 * options, or not asked for.
 */
export function checkFormValues(fields: readonly FormField[], values: FormValues): void {
  const asked = fields.length === 0 ? [ANSWER_FIELD] : fields;
  const names = new Set(asked.map(({ name }) => name));
  for (const name of Object.keys(values)) if (!names.has(name)) throw refused(name, 'was not asked for', asked);
  for (const field of asked) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    if (value === undefined) {
      if (field.required) throw refused(field.name, 'is missing', asked);
      continue;
    }
    const fault = faultOf(field, value);
    if (fault !== null) throw refused(field.name, fault, asked);
  }
}

function faultOf(field: FormField, value: FormValues[string]): string | null {
  switch (field.type) {
    case 'text':
      return typeof value === 'string' ? null : 'must be a text';
    case 'number':
      return typeof value === 'number' ? null : 'must be a number';
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'choice': {
      const chosen = typeof value === 'string' ? [value] : Array.isArray(value) && field.multiple ? value : null;
      if (chosen === null) return field.multiple ? 'must be a list of options' : 'must be one of the options';
      const labels = new Set(field.options.map(({ label }) => label));
      const isKnown = field.custom || chosen.every((label: string) => labels.has(label));
      return isKnown ? null : `must be of: ${[...labels].join(', ').slice(0, 500)}`;
    }
  }
}

function refused(name: string, fault: string, fields: readonly FormField[]): TidemarkError {
  const asked = fields.map((field) => field.name).join(', ');
  return new TidemarkError(
    'decision_not_allowed',
    `the value ${name} ${fault}`,
    `Send {"values":{…}} with: ${asked}.`,
    {
      facts: { field: `values.${name}` },
    },
  );
}

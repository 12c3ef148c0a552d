import { TidemarkError } from '../../../contract/errors.ts';
import { ANSWER_FIELD, checkFormValues, type FormField, type FormValues } from '../../../contract/form.ts';
import type { Interrupt } from '../../typescript/resources.ts';
import type { Dialog, Reply } from './dialog.ts';

/** Asks for the values of a question, one field after the other. */
export class QuestionDialog implements Dialog {
  readonly #interrupt: Interrupt;
  readonly #fields: readonly FormField[];
  #at = 0;
  #values: FormValues = {};

  constructor(interrupt: Interrupt) {
    this.#interrupt = interrupt;
    const { form, options } = interrupt;
    this.#fields = form == null || form.length === 0 ? [plainField(options)] : form;
  }

  intro(): readonly string[] {
    return [`? ${this.#interrupt.prompt}`, ...this.#asked()];
  }

  prompt(): string {
    const field = this.#field();
    const range = field.type === 'choice' && field.options.length > 0 ? ` 1-${String(field.options.length)}` : '';
    const several = field.multiple ? ', separated by commas' : '';
    return `answer${this.#fields.length > 1 ? ` ${field.name}` : ''}${range}${several} (/dismiss, /later) `;
  }

  draft(): string | null {
    return null;
  }

  take(line: string): Reply {
    const text = line.trim();
    if (text === '/dismiss') return { decision: { dismissed: true } };
    if (text === '/later') return { later: true };
    const field = this.#field();
    if (text === '' && field.required) return { say: 'This one is needed.' };
    if (text !== '') {
      const values = { [field.name]: valueOf(field, text) };
      const fault = faultOf(field, values);
      if (fault !== null) return { say: fault };
      this.#values = { ...this.#values, ...values };
    }
    this.#at += 1;
    if (this.#at < this.#fields.length) return { say: this.#asked().join('\n') || null };
    if (Object.keys(this.#values).length > 0) return { decision: { values: this.#values } };
    this.#at = 0;
    return { say: 'Give at least one value, or /dismiss.' };
  }

  /** The field's own words and what may be chosen. */
  #asked(): string[] {
    const { prompt, options, name } = this.#field();
    const words =
      this.#fields.length > 1 || (prompt !== '' && prompt !== this.#interrupt.prompt) ? [prompt || name] : [];
    const choices = options.map(({ label, description }, i) => {
      return `  ${String(i + 1)}. ${label}${description === undefined ? '' : ` – ${description}`}`;
    });
    return [...words, ...choices];
  }

  #field(): FormField {
    return this.#fields[this.#at] ?? ANSWER_FIELD;
  }
}

/** A question without a form takes a text; its options are proposals. */
function plainField(options: readonly string[]): FormField {
  if (options.length === 0) return ANSWER_FIELD;
  return { ...ANSWER_FIELD, type: 'choice', options: options.map((label) => ({ label })) };
}

function valueOf(field: FormField, text: string): FormValues[string] {
  switch (field.type) {
    case 'text':
      return text;
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return /^(?:y|yes|true)$/i.test(text) || (/^(?:n|no|false)$/i.test(text) ? false : text);
    case 'choice': {
      const labelOf = (part: string) => field.options[Number(part) - 1]?.label ?? part;
      return field.multiple ? text.split(',').map((part) => labelOf(part.trim())) : labelOf(text);
    }
  }
}

function faultOf(field: FormField, values: FormValues): string | null {
  try {
    checkFormValues([field], values);
    return null;
  } catch (error) {
    if (error instanceof TidemarkError) return `${error.message}.`;
    throw error;
  }
}

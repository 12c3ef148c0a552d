import { describe, expect, it } from 'vitest';
import { answerText, checkFormValues, FormValuesSchema, namedValues, type FormField } from './form.ts';

const field = (name: string, more: Partial<FormField> = {}): FormField => ({
  name,
  prompt: '',
  type: 'text',
  options: [],
  multiple: false,
  custom: false,
  required: true,
  ...more,
});
const colors = field('color', { type: 'choice', options: [{ label: 'red' }, { label: 'blue' }] });

describe('the values of a form', () => {
  it('are held to their fields, and the one at fault is named', () => {
    const fields = [colors, field('count', { type: 'number', required: false }), field('sure', { type: 'boolean' })];
    expect(() => checkFormValues(fields, { color: 'red', sure: true })).not.toThrow();
    for (const [values, at] of [
      [{ sure: true }, 'color'],
      [{ color: 'green', sure: true }, 'color'],
      [{ color: ['red'], sure: true }, 'color'],
      [{ color: 'red', sure: 'yes' }, 'sure'],
      [{ color: 'red', sure: true, count: '2' }, 'count'],
      [{ color: 'red', sure: true, __proto__x: 1 }, '__proto__x'],
    ] as const) {
      expect(() => checkFormValues(fields, values as never)).toThrow(
        expect.objectContaining({ code: 'decision_not_allowed', facts: { field: `values.${at}` } }),
      );
    }
  });

  it('of a choice may be several, or a text of their own, where the field says so', () => {
    const open = { ...colors, multiple: true, custom: true };
    expect(() => checkFormValues([open], { color: ['red', 'mauve'] })).not.toThrow();
    expect(() => checkFormValues([{ ...open, custom: false }], { color: ['red', 'mauve'] })).toThrow(
      /must be of: red, blue/,
    );
  });

  it('answer a question without fields, or with one, as `answer`', () => {
    expect(namedValues([], { answer: ['a', 'b'] })).toEqual({ answer: 'a, b' });
    expect(namedValues([colors], { answer: 'red' })).toEqual({ color: 'red' });
    expect(namedValues([colors], { color: 'red' })).toEqual({ color: 'red' });
    expect(answerText({ answer: 'yes' })).toBe('yes');
    expect(answerText({ color: ['red', 'blue'], count: 2 })).toBe('color: red, blue; count: 2');
  });

  it('are never none', () => {
    expect(FormValuesSchema.safeParse({}).success).toBe(false);
  });
});

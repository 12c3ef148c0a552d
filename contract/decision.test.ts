import { describe, expect, it } from 'vitest';
import { Decision, statusAfter } from './decision.ts';
import { checkEditedArguments } from './tool-arguments.ts';

describe('a decision', () => {
  it('is exactly one of the forms; anything else is an error, never an approval', () => {
    for (const good of [
      { decision: 'approve' },
      { decision: 'edit', edited_args: { path: 'a' } },
      { decision: 'reject', message: 'no' },
      { values: { answer: 'blue' } },
      { dismissed: true },
    ]) {
      expect(Decision.safeParse(good)).toMatchObject({ success: true, data: good });
    }
    for (const bad of [
      {},
      null,
      'approve',
      { decision: 'yes' },
      {
        decision: 'approve',
        edited_args: {},
      },
      { decision: 'edit' },
      { dismissed: false },
      { values: {} },
      {
        decision: 'approve',
        dismissed: true,
      },
      [{ decision: 'approve' }],
    ]) {
      expect({ bad, success: Decision.safeParse(bad).success }).toEqual({ bad, success: false });
    }
  });

  it('fits the kind of interrupt or does nothing', () => {
    expect(statusAfter('approval', { decision: 'edit', edited_args: {} })).toBe('edited');
    expect(statusAfter('approval', { dismissed: true })).toBeNull();
    expect(statusAfter('question', { values: { answer: '' } })).toBe('answered');
    expect(statusAfter('question', { decision: 'approve' })).toBeNull();
  });

  it('holds edited arguments to the tool’s schema and names the field', () => {
    const schema = JSON.stringify({
      type: 'object',
      properties: { path: { type: 'string' } },
      required: ['path'],
      additionalProperties: false,
    });
    expect(() => checkEditedArguments(schema, { path: 'a' })).not.toThrow();
    expect(() => checkEditedArguments(schema, { path: 1 })).toThrow(/edited_args\.path/);
  });
});

import { describe, expect, test } from 'vitest';
import type { EngineAnswer } from '../driver.ts';
import { dialogOf } from './dialogs.ts';
import { APPROVAL_TITLE } from './extension/protocol.ts';
import { UiRequest } from './pi-schema.ts';

const answered = (answer: string | boolean): EngineAnswer => ({ status: 'answered', values: { answer } });
const dialog = (fields: object) => dialogOf(UiRequest.parse({ id: 'ui_1', ...fields }));

describe('a dialog', () => {
  test('to confirm is a yes or no', () => {
    const confirm = dialog({ method: 'confirm', title: 'Clear?', message: 'All is lost.' });
    expect(confirm?.question).toMatchObject({ prompt: 'Clear?\nAll is lost.', fields: [{ type: 'boolean' }] });
    expect(confirm?.valueOf(answered(true))).toEqual({ confirmed: true });
    expect(confirm?.valueOf(answered(false))).toEqual({ confirmed: false });
    expect(confirm?.valueOf({ status: 'dismissed' })).toEqual({ cancelled: true });
  });

  test('with options that are too long to be shown is answered with the whole one', () => {
    const option = `Yes, and ${'more '.repeat(400)}`;
    const select = dialog({ method: 'select', title: 'Go on?', options: [option] });
    const [field] = select?.question.kind === 'question' ? select.question.fields : [];
    const label = field?.options[0]?.label ?? '';
    expect(label.length).toBeLessThan(1_000);
    expect(select?.valueOf(answered(label))).toEqual({ value: option });
  });

  test('with a text to edit shows it', () => {
    const editor = dialog({ method: 'editor', title: 'Edit', prefill: 'line 1' });
    expect(editor?.question.prompt).toBe('Edit\n\nline 1');
    expect(editor?.valueOf(answered('line 2'))).toEqual({ value: 'line 2' });
  });

  test('that asks for an approval and cannot be read is none', () => {
    expect(dialog({ method: 'input', title: APPROVAL_TITLE, placeholder: '{"toolName":' })).toBeNull();
    expect(dialog({ method: 'input', title: APPROVAL_TITLE, placeholder: '{"toolName":"write"}' })).toBeNull();
    expect(dialog({ method: 'notify', message: 'hello' })).toBeNull();
  });
});

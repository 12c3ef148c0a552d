import { describe, expect, it } from 'vitest';
import type { FormField } from '../../../contract/form.ts';
import type { Interrupt } from '../../typescript/resources.ts';
import { dialogOf } from './dialog-of.ts';

function interrupt(more: Partial<Interrupt>): Interrupt {
  return {
    interrupt_id: 'int_1',
    run_id: 'run_1',
    thread_id: 'thr_1',
    kind: 'approval',
    status: 'pending',
    prompt: 'Write 3 bytes',
    options: ['approve', 'edit', 'reject'],
    form: null,
    tool_call_id: 'c',
    tool_name: 'write_file',
    arguments: { path: 'a' },
    decision: null,
    deadline_at: null,
    ...more,
  };
}

const field = (more: Partial<FormField>): FormField => ({
  name: 'x',
  prompt: 'X?',
  type: 'text',
  options: [],
  multiple: false,
  custom: false,
  required: true,
  ...more,
});

describe('an approval', () => {
  it('shows the call with its arguments, and what may be answered', () => {
    const dialog = dialogOf(interrupt({}));
    expect(dialog.intro()).toEqual(['? write_file asks for approval: Write 3 bytes', '{\n  "path": "a"\n}']);
    expect(dialog.prompt()).toBe('[a]pprove / [e]dit / [r]eject / [l]ater ? ');
  });

  it.each([
    ['a', { decision: { decision: 'approve' } }],
    [' YES ', { decision: { decision: 'approve' } }],
    ['r', { decision: { decision: 'reject' } }],
    ['r not today, please', { decision: { decision: 'reject', message: 'not today, please' } }],
    ['e {"path":"b"}', { decision: { decision: 'edit', edited_args: { path: 'b' } } }],
    ['later', { later: true }],
  ])('is answered by %j', (line, reply) => {
    expect(dialogOf(interrupt({})).take(line)).toEqual(reply);
  });

  it.each(['', 'ok', 'always', 'approved', 'A sentence that begins with an a'])('is never given by %j', (line) => {
    expect(dialogOf(interrupt({})).take(line)).toMatchObject({ say: expect.stringContaining('approve, edit, reject') });
  });

  it('is edited in a line of its own, which may be left again', () => {
    const dialog = dialogOf(interrupt({}));
    expect(dialog.take('e')).toEqual({ say: null });
    expect(dialog.draft()).toBe('{"path":"a"}');
    expect(dialog.take('[1]')).toEqual({ say: 'That is no JSON object.' });
    expect(dialog.take('')).toEqual({ say: null });
    expect(dialog.draft()).toBeNull();
    dialog.take('e');
    expect(dialog.take('{"path":"c"}')).toEqual({ decision: { decision: 'edit', edited_args: { path: 'c' } } });
  });

  it('takes only what is offered', () => {
    const dialog = dialogOf(interrupt({ options: ['approve', 'always'] }));
    expect(dialog.prompt()).toBe('[a]pprove / approve [always] / [l]ater ? ');
    expect(dialog.take('r')).toMatchObject({ say: expect.stringContaining('approve, always') });
    expect(dialog.take('always')).toEqual({ decision: { decision: 'always' } });
  });
});

describe('a question', () => {
  const question = (form: FormField[] | null, options: string[] = []) =>
    dialogOf(interrupt({ kind: 'question', tool_name: null, prompt: 'Which?', options, form }));

  it('takes a text, or one of what is proposed by its number', () => {
    expect(question(null).take(' blue ')).toEqual({ decision: { values: { answer: 'blue' } } });
    const dialog = question(null, ['red', 'blue']);
    expect(dialog.intro()).toEqual(['? Which?', '  1. red', '  2. blue']);
    expect(dialog.prompt()).toBe('answer 1-2 (/dismiss, /later) ');
    expect(dialog.take('')).toEqual({ say: 'This one is needed.' });
    expect(dialog.take('2')).toEqual({ decision: { values: { answer: 'blue' } } });
    expect(question(null, ['red']).take('green')).toEqual({ decision: { values: { answer: 'green' } } });
  });

  it('asks for each field of a form, and again for what does not fit', () => {
    const dialog = question([
      field({ name: 'count', prompt: 'How many?', type: 'number' }),
      field({ name: 'sure', prompt: 'Sure?', type: 'boolean', required: false }),
      field({
        name: 'tags',
        prompt: 'Tags?',
        type: 'choice',
        multiple: true,
        options: [{ label: 'a' }, { label: 'b' }],
      }),
    ]);
    expect(dialog.intro()).toEqual(['? Which?', 'How many?']);
    expect(dialog.take('many')).toEqual({ say: 'the value count must be a number.' });
    expect(dialog.take('3')).toEqual({ say: 'Sure?' });
    expect(dialog.take('')).toEqual({ say: 'Tags?\n  1. a\n  2. b' });
    expect(dialog.take('1, c')).toEqual({ say: 'the value tags must be of: a, b.' });
    expect(dialog.take('1, b')).toEqual({ decision: { values: { count: 3, tags: ['a', 'b'] } } });
  });

  it('is dismissed or left for later in so many words', () => {
    expect(question(null).take('/dismiss')).toEqual({ decision: { dismissed: true } });
    expect(question(null).take('/later')).toEqual({ later: true });
  });

  it('whose fields may all be left out needs one of them', () => {
    const dialog = question([field({ required: false })]);
    expect(dialog.take('')).toMatchObject({ say: expect.stringContaining('at least one') });
    expect(dialog.take('y')).toEqual({ decision: { values: { x: 'y' } } });
  });
});

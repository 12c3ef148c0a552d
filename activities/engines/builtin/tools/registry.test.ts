import { describe, expect, it } from 'vitest';
import { builtinTools } from './registry.ts';

const tools = builtinTools();
const tool = (name: string) => tools.get(name)!;

describe('the built-in tools', () => {
  it('declare what the loop needs to know', () => {
    const facts = [...tools.values()].map(({ name, kind, approval, repeatable, parallelSafe }) => [
      name,
      kind,
      approval,
      repeatable,
      parallelSafe,
    ]);
    expect(facts).toEqual([
      ['list_files', 'execute', 'never', true, true],
      ['read_file', 'execute', 'never', true, true],
      ['search_files', 'execute', 'never', true, true],
      ['write_file', 'execute', 'always', false, false],
      ['edit_file', 'execute', 'always', false, false],
      ['shell', 'execute', 'always', false, false],
      ['fetch_url', 'execute', 'never', true, true],
      ['save_artifact', 'execute', 'never', true, true],
      ['update_plan', 'execute', 'never', true, false],
      ['ask_user', 'question', 'never', true, false],
      ['delegate', 'delegate', 'never', true, true],
    ]);
  });

  it('have a JSON Schema of an object that allows no other fields', () => {
    expect(tool('write_file').parameters).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, maxLength: 1024, description: expect.any(String) as string },
        content: { type: 'string', description: expect.any(String) as string },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    });
    for (const { parameters } of tools.values())
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('describe a call in one bounded line', () => {
    expect(tool('write_file').describe({ path: 'notes/a.txt', content: 'ñ' })).toBe('Write 2 bytes to notes/a.txt');
    const long = tool('ask_user').describe({ prompt: `a\u202E\n\u0007b ${'x'.repeat(500)}` });
    expect(long).toMatch(/^Ask: a b x+…$/);
    expect(long.length).toBe(200);
    expect(tool('write_file').describe({ path: `${'./'.repeat(300)}danger.sh`, content: '' })).toMatch(/danger\.sh$/);
  });

  it('put a question to the user', () => {
    const asked = tool('ask_user');
    if (asked.kind !== 'question') throw new Error('ask_user is no question');
    expect(asked.question({ prompt: 'Which?' })).toEqual({ prompt: 'Which?', options: [] });
  });
});

describe('arguments', () => {
  it('that fit are handed on', () => {
    expect(tool('read_file').validate({ path: 'a' })).toEqual({ ok: true, args: { path: 'a' } });
  });

  it.each([
    ['read_file', {}, /^error: invalid arguments for read_file: path Invalid input: expected string/],
    ['read_file', { path: 7 }, /path Invalid input: expected string, received number$/],
    ['read_file', { path: 'a', mode: 1 }, /: mode Unrecognized key: "mode"$/],
    ['write_file', { path: '' }, /path Too small.*; content Invalid input/],
    ['ask_user', { prompt: 'a', options: [''] }, /options\.0 Too small/],
    ['delegate', { task: '' }, /: task Too small/],
    ['delegate', { task: 'a', name: 'a\u0000b' }, /: name may hold no control characters$/],
    ['delegate', { task: 'a', model: 'openai/a b' }, /: model takes visible ASCII characters$/],
    ['read_file', 'a', /: arguments Invalid input: expected object, received string$/],
    ['read_file', null, /: arguments Invalid input/],
  ])('of %s that do not fit (%j) say which field is at fault', (name, args, error) => {
    const validated = tool(name).validate(args);
    expect(validated.ok).toBe(false);
    expect(validated.ok ? '' : validated.error).toMatch(error);
  });
});

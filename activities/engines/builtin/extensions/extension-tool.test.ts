import { describe, expect, test } from 'vitest';
import type { ToolRecord } from '../../../../contract/extensions/register-kinds.ts';
import type { ToolContext } from '../tools/tool.ts';
import { toolOfRecord } from './extension-tool.ts';

const record = (more: Partial<ToolRecord> = {}): ToolRecord => ({
  name: 'add',
  description: 'Adds',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  execute: ({ a, b }) => ({ content: [{ type: 'text', text: String(Number(a) + Number(b)) }], isError: false }),
  ...more,
});
const made = (more: Partial<ToolRecord> = {}) => {
  const warnings: string[] = [];
  return { tool: toolOfRecord(record(more), (what) => warnings.push(what)), warnings };
};
const context = (signal = new AbortController().signal) =>
  ({ agent: { runId: 'r', threadId: 't', model: 'm' }, toolCallId: 'c', workspace: '/nowhere', signal }) as ToolContext;

describe('a tool of an extension', () => {
  test('gives what it gave', async () => {
    const { tool, warnings } = made();
    expect(await tool.execute({ a: 1, b: 2 }, context())).toEqual({
      content: [{ type: 'text', text: '3' }],
      isError: false,
    });
    expect([tool.approval, tool.repeatable, tool.parallelSafe, warnings]).toEqual(['never', false, false, []]);
  });

  test.each([
    [{ a: 1 }, 'error: invalid arguments for add: b is required'],
    [{ a: 1, b: 'two' }, 'error: invalid arguments for add: b must be number'],
    [{ a: 1, b: 2, c: 3 }, 'error: invalid arguments for add: c is not allowed'],
    [[], 'error: invalid arguments for add: arguments must be object'],
  ])('refuses the arguments %j by their schema', (args, error) => {
    expect(made().tool.validate(args)).toEqual({ ok: false, kind: 'invalid-arguments', error });
  });

  test('with a schema that cannot be used is refused when it is called, and warned of when it is made', () => {
    const { tool, warnings } = made({ parameters: { type: 'object', properties: { a: { type: 'shoe' } } } });
    expect(tool.validate({})).toMatchObject({ ok: false, kind: 'invalid-tool-schema' });
    expect(warnings.join()).toContain('cannot be used');
  });

  test('with a keyword that nobody knows is warned of once and works', () => {
    const { tool, warnings } = made({ parameters: { type: 'object', 'x-order': ['a'] } });
    expect(tool.validate({ anything: 1 })).toMatchObject({ ok: true });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('x-order');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no power\nat line 3');
      },
      'error: tool add failed: no power',
    ],
    ['rejects', () => Promise.reject(new Error('no power')), 'error: tool add failed: no power'],
    ['gives no result', () => 'three' as never, 'error: tool add failed: its result is not what a tool gives'],
  ])('that %s is an error result', async (_, execute, text) => {
    const { content, isError } = await made({ execute }).tool.execute({}, context());
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain(text);
  });

  test('that is stopped throws, so that the loop says what it was stopped for', async () => {
    const stop = new AbortController();
    const execute = async () => {
      stop.abort(new Error('stopped'));
      return await Promise.resolve({ content: [], isError: false });
    };
    await expect(made({ execute }).tool.execute({}, context(stop.signal))).rejects.toThrow('stopped');
  });
});

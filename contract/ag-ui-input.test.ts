import { describe, expect, it } from 'vitest';
import { answersOf, newInput, RunAgentInput } from './ag-ui-input.ts';
import type { PendingInterrupt } from './lifecycle-projection-state.ts';

function asked(kind: 'approval' | 'question', n: number): PendingInterrupt {
  const id = String(n);
  return {
    kind,
    interruptId: `int_${id}`,
    agentId: 'builtin',
    namespace: [],
    tool: `#call_${id}`,
    toolCallId: `call_${id}`,
    toolName: 'write_file',
    args: {},
    prompt: 'May it?',
    options: [],
    questions: [],
  };
}

const entry = (interruptId: string, payload?: unknown, status: 'resolved' | 'cancelled' = 'resolved') => {
  return { interruptId, status, payload };
};

describe('a RunAgentInput', () => {
  it('needs the ids and the messages, and leaves what is the client’s own alone', () => {
    const input = { threadId: 't', runId: 'r', messages: [], state: { a: 1 }, tools: [{}], context: [], extra: true };
    expect(RunAgentInput.safeParse(input).success).toBe(true);
    expect(RunAgentInput.safeParse({ ...input, runId: 'with space' }).success).toBe(false);
    expect(RunAgentInput.safeParse({ ...input, messages: [{ role: 'user' }] }).success).toBe(false);
  });

  it('gives the user messages that the thread does not know, once', () => {
    const messages = [
      { id: '1', role: 'user', content: 'old' },
      { id: '2', role: 'assistant', content: 'answer' },
      { id: '3', role: 'user', content: 'new' },
      { id: '4', role: 'user', content: [{ type: 'text', text: 'and more' }] },
    ];
    expect(newInput(messages, new Set(['1']))).toEqual({ input: 'new\n\nand more', messageIds: ['3', '4'] });
    expect(newInput(messages, new Set(['1', '3', '4']))).toBeNull();
    const image = [{ id: '5', role: 'user', content: [{ type: 'image', source: {} }] }];
    expect(() => newInput(image, new Set())).toThrow('more than text');
  });
});

describe('a resume', () => {
  it('answers one approval by the interrupt’s id: approve, edit, reject, cancel', () => {
    const pending = [asked('approval', 1)];
    const decide = (payload: unknown, status?: 'cancelled') =>
      answersOf([entry('int_1', payload, status)], pending)[0]?.decision;
    expect(decide({ approved: true })).toEqual({ decision: 'approve' });
    expect(decide({ approved: true, editedArgs: { a: 1 } })).toEqual({ decision: 'edit', edited_args: { a: 1 } });
    expect(decide({ approved: false, message: 'no' })).toEqual({ decision: 'reject', message: 'no' });
    expect(decide(undefined, 'cancelled')).toEqual({ decision: 'reject' });
  });

  it.each([undefined, null, true, 'yes', {}, { approved: 'true' }, { approved: 1 }, { approve: true }])(
    '%j is no answer, and never an approval',
    (payload) => {
      expect(() => answersOf([entry('int_1', payload)], [asked('approval', 1)])).toThrow('is no answer');
    },
  );

  it('must answer each open interrupt exactly once', () => {
    const pending = [asked('approval', 1), asked('approval', 2)];
    const both = [entry('int_1:call_1', { approved: true }), entry('int_1:call_2', { approved: false })];
    expect(answersOf(both, pending).map(({ interruptId }) => interruptId)).toEqual(['int_1', 'int_2']);
    expect(() => answersOf(both.slice(0, 1), pending)).toThrow('int_1:call_2 is not answered');
    expect(() => answersOf([...both, entry('int_1:call_1', { approved: false })], pending)).toThrow('answered twice');
    expect(() => answersOf([...both, entry('int_9', { approved: true })], pending)).toThrow('int_9 is not open');
  });

  it('answers questions by their form, and among approvals by the call’s edited arguments', () => {
    const alone = answersOf([entry('int_1', { answer: 'blue' })], [asked('question', 1)]);
    expect(alone).toEqual([{ interruptId: 'int_1', decision: { values: { answer: 'blue' } } }]);
    const two = answersOf(
      [entry('int_1', { int_1: 'a', int_2: ['b', 'c'] })],
      [asked('question', 1), asked('question', 2)],
    );
    expect(two.map(({ decision }) => decision)).toEqual([
      { values: { answer: 'a' } },
      { values: { answer: ['b', 'c'] } },
    ]);
    const mixed = [asked('approval', 1), asked('question', 2)];
    const answers = [
      entry('int_1:call_1', { approved: true }),
      entry('int_1:call_2', { approved: true, editedArgs: { answer: 'x' } }),
    ];
    expect(answersOf(answers, mixed)[1]?.decision).toEqual({ values: { answer: 'x' } });
    expect(answersOf([entry('int_1', undefined, 'cancelled')], [asked('question', 1)])[0]?.decision).toEqual({
      dismissed: true,
    });
  });
});

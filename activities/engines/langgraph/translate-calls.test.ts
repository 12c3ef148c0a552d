import { describe, expect, it } from 'vitest';
import { bodiesOf, chunkOf, emitted, end, input, result, tool, update, whole } from './translate-testkit.ts';

describe('translating the calls of an agent of LangGraph', () => {
  it('says a call with its input, and once, however many frames tell of it', () => {
    const bodies = bodiesOf(
      update('model', [whole('m1', '', { tool_calls: [{ id: 'c1', name: 'read', args: { path: 'a' } }] })]),
      tool('on_tool_start', 'c1', { input: '{"path":"a"}' }),
      tool('on_tool_event', 'c1', { data: 'half' }),
      tool('on_tool_end', 'c1', { output: result('c1', [{ type: 'text', text: 'content' }], { status: 'success' }) }),
      chunkOf('messages', [result('c1', 'content'), {}]),
      update('tools', [result('c1', 'content')]),
      tool('on_tool_end', 'c1', { output: 'again' }),
    );
    expect(bodies).toEqual([
      { kind: 'tool.started', toolCallId: 'c1', name: 'read', input: { path: 'a' } },
      { kind: 'tool.progress', toolCallId: 'c1', preview: 'half' },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'content' },
    ]);
  });

  it.each([
    ['an error is thrown', tool('on_tool_error', 'c1', { error: { message: 'no such file' } }), 'no such file'],
    ['its message says so', tool('on_tool_end', 'c1', { output: result('c1', 'no', { status: 'error' }) }), 'no'],
    ['its words say so', tool('on_tool_end', 'c1', { output: result('c1', 'Error: exists') }), 'Error: exists'],
    ['a person refused it', update('Hitl.after_model', [result('c1', 'Not this', { status: 'error' })]), 'Not this'],
  ])('says that a call failed where %s', (_, frame, error) => {
    const bodies = bodiesOf(tool('on_tool_start', 'c1'), frame);
    expect(bodies[1]).toMatchObject({ kind: 'tool.completed', toolCallId: 'c1', status: 'error', error });
  });

  it('leaves the end of a call to its result where the words of its error were lost', () => {
    const bodies = bodiesOf(
      tool('on_tool_start', 'c1'),
      tool('on_tool_error', 'c1', { error: {} }),
      update('tools', [result('c1', 'Error: no such file', { status: 'error' })]),
    );
    expect(bodies[1]).toMatchObject({ kind: 'tool.completed', status: 'error', error: 'Error: no such file' });
  });

  it('tells of an input that a person changed, and of what the call then did', () => {
    const calls = (path: string) => ({ tool_calls: [{ id: 'c1', name: 'write_file', args: { file_path: path } }] });
    const bodies = bodiesOf(
      update('model', [whole('m1', '', calls('a.txt'))]),
      chunkOf('updates', { __interrupt__: [{ id: 'i1', value: { actionRequests: [] } }] }),
      end,
      input({ resume: { decisions: [{ type: 'edit' }] } }),
      update('Hitl.after_model', [whole('m1', '', calls('b.txt'))]),
      tool('on_tool_start', 'c1', { name: 'write_file', input: '{"file_path":"b.txt"}' }),
      tool('on_tool_end', 'c1', { output: 'done' }),
    );
    expect(bodies).toEqual([
      { kind: 'tool.started', toolCallId: 'c1', name: 'write_file', input: { file_path: 'a.txt' } },
      { kind: 'tool.progress', toolCallId: 'c1', preview: '{"file_path":"b.txt"}' },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'done' },
      { kind: 'file.changed', path: 'b.txt', changeType: 'create' },
    ]);
  });

  it('takes an input that was cut on its way for no change', () => {
    const args = { file_path: 'a.txt', content: 'x'.repeat(3_000) };
    const bodies = bodiesOf(
      update('model', [whole('m1', '', { tool_calls: [{ id: 'c1', name: 'write_file', args }] })]),
      tool('on_tool_start', 'c1', { input: '{"file_path":"a.txt","content":"xxx...[2997 chars]' }),
    );
    expect(bodies).toHaveLength(1);
  });

  it('says the plan of a tool that keeps one and changes the state of the graph', () => {
    const todos = [{ content: 'Look', status: 'in_progress' }];
    const bodies = bodiesOf(
      update('model', [whole('m1', '', { tool_calls: [{ id: 'c1', name: 'write_todos', args: { todos } }] })]),
      chunkOf('updates', { tools: [{ todos, messages: [result('c1', 'Updated')] }] }),
    );
    expect(bodies.at(-1)).toEqual({
      kind: 'plan.updated',
      entries: [{ id: '0-Look', text: 'Look', status: 'in_progress' }],
    });
  });

  it('leaves the platform to ask, and lets a call wait for the answer', () => {
    const interrupt = chunkOf('updates', { __interrupt__: [{ id: 'i1', value: { question: 'Which?' } }] });
    const answers = emitted(tool('on_tool_start', 'c1'), interrupt, end, input({ resume: 'Blue' }));
    expect(answers.slice(1)).toEqual([
      'the platform asks',
      'the platform says that the turn ended',
      'the platform says what is asked and what is answered',
    ]);
  });

  it('says a call under the id of one that ended as another call', () => {
    const calls = { tool_calls: [{ id: 'c', name: 'read', args: {} }] };
    const bodies = bodiesOf(
      update('model', [whole('m1', '', calls)]),
      update('tools', [result('c', 'a')]),
      update('model', [whole('m2', '', calls)]),
      update('tools', [result('c', 'b')]),
    );
    expect(bodies).toMatchObject([
      { kind: 'tool.started', toolCallId: 'c' },
      { kind: 'tool.completed', toolCallId: 'c', preview: 'a' },
      { kind: 'tool.started', toolCallId: 'c.1' },
      { kind: 'tool.completed', toolCallId: 'c.1', preview: 'b' },
    ]);
  });
});

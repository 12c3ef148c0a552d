import { describe, expect, it } from 'vitest';
import { begun, lastOf, legsOf, lines, shortOf, streams } from './lifecycle-legs-testkit.ts';
import { answered, approval, decided, parked, question, settled, type Log } from './lifecycle-log-testkit.ts';
import { openInterrupts } from './lifecycle-projection.ts';

const calls = (...ids: string[]) => ids.map((id) => ({ type: 'call', id }));

function asking(): Log {
  return begun()
    .engine([{ type: 'say', text: 'I need two tools' }, ...calls('a', 'b')])
    .platform(approval('int_a', 'a'), approval('int_b', 'b', { path: 'b' }), parked('int_a', 'int_b'));
}

describe('a pause', () => {
  it('ends the leg with one interrupt for the batch, after what is open was closed', () => {
    const { legs, state } = legsOf(asking());
    expect(shortOf(legs[0]).slice(-3)).toEqual(
      lines(`text.finished m
             interrupt.requested builtin int_a
             run.interrupted int_a tool_approval`),
    );
    const allowed_decisions = ['approve', 'edit', 'reject'];
    expect(legs[0]?.at(-2)?.data).toEqual({
      interrupt_id: 'int_a',
      interrupt_type: 'tool_approval',
      agent_id: 'builtin',
      tool_approvals: [
        { tool_call_id: 'a', tool_name: 'tool', tool_args: { path: 'a' }, allowed_decisions },
        { tool_call_id: 'b', tool_name: 'tool', tool_args: { path: 'b' }, allowed_decisions },
      ],
    });
    expect(openInterrupts(state)).toMatchObject([
      { interrupt_id: 'int_a', tool_call_id: 'a' },
      { interrupt_id: 'int_b', tool_call_id: 'b' },
    ]);
  });

  it('is not said before its state is committed', () => {
    const log = begun().engine(calls('a')).platform(approval('int_a', 'a'));
    expect(streams(log)).toEqual([['run.started', 'tool.started a']]);
    expect(openInterrupts(legsOf(log).state)).toEqual([]);
  });

  it('lasts until the last answer; the next leg announces the open calls again, edited where a person edited', () => {
    const rejected = { type: 'fail', id: 'b', text: 'the user rejected this call' };
    const log = asking().platform(decided('int_b', 'reject')).engine([rejected]);
    expect(streams(log)).toHaveLength(1);
    log
      .platform(decided('int_a', 'edit', { path: 'safe' }))
      .engine([{ type: 'return', id: 'a', text: 'ok' }])
      .platform(settled());
    const { legs } = legsOf(log);
    expect(shortOf(legs[1])).toEqual(
      lines(`run.started
             tool.started a
             tool.started b
             tool.error b tool_rejected
             tool.finished a ok
             run.finished success stop`),
    );
    expect(legs[1]?.[0]).toMatchObject({ run_id: 'run_1.2', sequence: 0, conversation_id: 'thr_1' });
    expect(legs[1]?.[1]).toMatchObject({ data: { arguments: { path: 'safe' } } });
  });

  it('that is cancelled ends in a leg of its own', () => {
    expect(streams(asking().platform(settled('cancelled'))).at(-1)).toEqual(
      lines(`run.started
             tool.started a
             tool.started b
             tool.error a tool_cancelled
             tool.error b tool_cancelled
             run.cancelled client_request`),
    );
  });

  it('for a question is a form; its answer is the result of the call that asked', () => {
    const log = begun()
      .engine(calls('q'))
      .platform(question('int_q', 'q', ['red', 'blue']), parked('int_q'));
    const { legs } = legsOf(log);
    const field = { field_name: 'answer', field_label: 'int_q?', field_type: 'select', required: true };
    expect(legs[0]?.at(-2)?.data).toEqual({
      interrupt_id: 'int_q',
      interrupt_type: 'form_input',
      agent_id: 'builtin',
      prompt: 'int_q?',
      fields: [{ ...field, field_values: ['red', 'blue'] }],
    });
    expect(legs[0]?.at(-1)?.data).toEqual({ interrupt_id: 'int_q', reason: 'human_input' });
    log
      .platform(answered('int_q'))
      .engine([{ type: 'return', id: 'q', text: 'blue' }])
      .platform(settled('cancelled'));
    expect(streams(log)[1]?.slice(1, 3)).toEqual(['tool.started q', 'tool.finished q blue']);
    expect(lastOf(log)).toMatchObject({ side_effect_status: 'none' });
  });

  it('for several questions is one form with a field for each', () => {
    const asked = [question('int_q', 'q'), question('int_p', 'p'), parked('int_q', 'int_p')];
    const log = begun()
      .engine(calls('q', 'p'))
      .platform(...asked);
    expect(legsOf(log).legs[0]?.at(-2)?.data).toMatchObject({
      interrupt_id: 'int_q',
      fields: [
        { field_name: 'int_q', field_type: 'text' },
        { field_name: 'int_p', field_type: 'text' },
      ],
    });
  });

  it('for an approval and a question shows the question as a call to be edited or rejected', () => {
    const asked = [question('int_q', 'q'), approval('int_a', 'a'), parked('int_q', 'int_a')];
    const log = begun()
      .engine(calls('q', 'a'))
      .platform(...asked);
    expect(legsOf(log).legs[0]?.at(-2)?.data).toMatchObject({
      interrupt_id: 'int_q',
      tool_approvals: [
        { tool_call_id: 'q', tool_args: { prompt: 'int_q?' }, allowed_decisions: ['edit', 'reject'] },
        { tool_call_id: 'a', allowed_decisions: ['approve', 'edit', 'reject'] },
      ],
    });
  });

  it('can follow a pause, and a message that was open over it goes on under its id', () => {
    const log = begun()
      .engine([{ type: 'say', text: 'one ' }, ...calls('a')])
      .platform(approval('int_a', 'a'), parked('int_a'), decided('int_a', 'approve'))
      .engine([{ type: 'return', id: 'a' }, ...calls('b')])
      .platform(approval('int_b', 'b'), parked('int_b'), decided('int_b', 'approve'))
      .engine([
        { type: 'end', text: 'one two' },
        { type: 'return', id: 'b' },
      ])
      .platform(settled());
    const { legs } = legsOf(log);
    expect(legs.map((events) => events[0]?.run_id)).toEqual(['run_1', 'run_1.2', 'run_1.3']);
    expect(shortOf(legs[2]).slice(1, 5)).toEqual(
      lines(`tool.started b
             text.started m
             text.delta m two
             text.finished m`),
    );
  });

  it('does not hold back for ever an engine that goes on by itself', () => {
    const log = begun().engine(calls('a')).platform(approval('int_a', 'a'), parked('int_a'));
    for (let i = 0; i < 350; i++) log.engine([{ type: 'say', text: 'x' }, { type: 'end' }]);
    const { legs } = legsOf(log);
    expect(legs).toHaveLength(2);
    expect(legs[1]?.filter(({ type }) => type === 'text.started').length).toBeGreaterThan(300);
  });
});

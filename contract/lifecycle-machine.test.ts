import { describe, expect, it } from 'vitest';
import * as limit from './lifecycle-limits.ts';
import { LIFECYCLE_TYPES, TERMINAL_TYPES, type LifecycleEvent } from './lifecycle.ts';
import { closingEvents } from './lifecycle-closing.ts';
import { createLifecycleMachine, type LifecycleMachine } from './lifecycle-machine.ts';
import type { CommittedPause, LifecycleState } from './lifecycle-state.ts';
import { COMMITTED, line, SAMPLE_DATA, streamOf, type Line } from './lifecycle-testkit.ts';

const adapter = createLifecycleMachine({ audience: 'adapter', ephemeral: false });
const coordinator = createLifecycleMachine({ audience: 'coordinator', ephemeral: false });
const reader = createLifecycleMachine({ audience: 'public', ephemeral: false });

type Verdict = { at: number; rule: number } | LifecycleState;

function judge(events: readonly LifecycleEvent[], machine: LifecycleMachine = reader, pause?: CommittedPause): Verdict {
  let state = machine.initial;
  for (const [at, event] of events.entries()) {
    const advanced = machine.advance(state, event, pause);
    if (!advanced.ok) return { at, rule: advanced.rule };
    state = advanced.state;
  }
  return state;
}

const started = line('run.started', SAMPLE_DATA['run.started']);
const finished = line('run.finished', SAMPLE_DATA['run.finished']);
const cancelled = line('run.cancelled', SAMPLE_DATA['run.cancelled']);
const text = (id: string, namespace: readonly string[] = []) => [
  line('text.started', { message_id: id, role: 'assistant' }, namespace),
  line('text.delta', { message_id: id, delta: 'hi' }, namespace),
  line('text.finished', { message_id: id }, namespace),
];
const call = (id: string, namespace: readonly string[] = []) =>
  line('tool.started', { tool_call_id: id, tool_name: 'tool', arguments: {} }, namespace);
const result = (id: string, namespace: readonly string[] = []) =>
  line('tool.finished', { tool_call_id: id, result: 'ok' }, namespace);
const failure = (id: string) => line('tool.error', { ...SAMPLE_DATA['tool.error'], tool_call_id: id });
const enter = (path: readonly string[], callId: string) =>
  line('namespace.entered', { agent_id: 'child', agent_name: 'Child', parent_tool_call_id: callId }, path);
const leave = (path: readonly string[], callId: string, outcome: 'success' | 'interrupted' = 'success') =>
  line('namespace.exited', { agent_id: 'child', parent_tool_call_id: callId, outcome }, path);
const asked = line('interrupt.requested', SAMPLE_DATA['interrupt.requested']);
const interrupted = line('run.interrupted', SAMPLE_DATA['run.interrupted']);

const refusal = (lines: readonly Line[], machine = reader) => judge(streamOf(lines), machine);

const at = (from: LifecycleState, event: LifecycleEvent | undefined) => event && reader.advance(from, event);
const uncertain = (retryable: boolean) =>
  line('run.error', { ...SAMPLE_DATA['run.error'], code: 'thread_durability_uncertain', retryable });

describe('the 15 rules of lifecycle v1', () => {
  it('1: an event whose sequence does not increase is refused; a gap is legal', () => {
    const events = streamOf([started, ...text('a'), finished]);
    const withSequence = (index: number, sequence: number) =>
      events.map((event, i) => (i === index ? { ...event, sequence } : event));
    expect(judge(withSequence(2, 1))).toEqual({ at: 2, rule: 1 });
    expect(judge(withSequence(2, 0))).toEqual({ at: 2, rule: 1 });
    expect(judge(withSequence(4, 4_000))).toMatchObject({ phase: 'ended', sequence: 4_000 });
  });

  it('2: a stream begins with run.started at 0, once, and stays with its run and conversation', () => {
    expect(refusal(text('a'))).toEqual({ at: 0, rule: 2 });
    expect(refusal([started, started])).toEqual({ at: 1, rule: 2 });
    const [first, ...rest] = streamOf([started, ...text('a'), finished]);
    if (first === undefined) throw new Error('the stream has events');
    expect(judge([{ ...first, sequence: 1 }])).toEqual({ at: 0, rule: 2 });
    expect(judge([first, ...rest.map((event) => ({ ...event, run_id: 'other' }))])).toEqual({ at: 1, rule: 2 });
    expect(judge([first, ...rest.map((event) => ({ ...event, conversation_id: 'other' }))])).toEqual({
      at: 1,
      rule: 2,
    });
  });

  it('3: a second terminal is refused', () => {
    for (const type of TERMINAL_TYPES) {
      expect(refusal([started, finished, line(type, SAMPLE_DATA[type])])).toEqual({ at: 2, rule: 3 });
    }
  });

  it('4: nothing follows a terminal', () => {
    for (const type of LIFECYCLE_TYPES.filter((each) => !(TERMINAL_TYPES as readonly string[]).includes(each))) {
      expect(refusal([started, cancelled, line(type, SAMPLE_DATA[type])])).toEqual({ at: 2, rule: 4 });
    }
  });

  it('5: text and reasoning start before their deltas and finish at most once', () => {
    const [start, delta, stop] = text('a') as [Line, Line, Line];
    expect(refusal([started, delta])).toEqual({ at: 1, rule: 5 });
    expect(refusal([started, stop])).toEqual({ at: 1, rule: 5 });
    expect(refusal([started, start, start])).toEqual({ at: 2, rule: 5 });
    expect(refusal([started, start, stop, stop])).toEqual({ at: 3, rule: 5 });
    expect(refusal([started, start, stop, delta])).toEqual({ at: 3, rule: 5 });
    expect(refusal([started, start, stop, start])).toEqual({ at: 3, rule: 5 });
    expect(refusal([started, start, line('reasoning.delta', { message_id: 'a', delta: 'x' })])).toEqual({
      at: 2,
      rule: 5,
    });
    expect(refusal([started, start, cancelled])).toMatchObject({ phase: 'ended' });
    const elsewhere = text('a', ['t']).slice(1);
    for (const each of elsewhere)
      expect(refusal([started, start, call('t'), enter(['t'], 't'), each])).toEqual({ at: 4, rule: 5 });
  });

  it('6: a tool call starts before its arguments and its end, and ends at most once', () => {
    const args = line('tool.arguments.delta', { tool_call_id: 'a', delta: '{}' });
    const whole = line('tool.started', { tool_call_id: 'a', tool_name: 'tool', arguments: { x: 1 } });
    for (const early of [args, result('a'), failure('a')])
      expect(refusal([started, early])).toEqual({ at: 1, rule: 6 });
    expect(refusal([started, call('a'), call('a')])).toEqual({ at: 2, rule: 6 });
    expect(refusal([started, call('a'), result('a'), call('a')])).toEqual({ at: 3, rule: 6 });
    expect(refusal([started, call('a'), result('a'), result('a')])).toEqual({ at: 3, rule: 6 });
    expect(refusal([started, call('a'), failure('a'), failure('a')])).toEqual({ at: 3, rule: 6 });
    expect(refusal([started, call('a'), result('a'), args])).toEqual({ at: 3, rule: 6 });
    expect(refusal([started, whole, args])).toEqual({ at: 2, rule: 6 });
    expect(refusal([started, call('a'), args, args, cancelled])).toMatchObject({ phase: 'ended' });
    const elsewhere = { ...args, namespace: ['a'] };
    for (const each of [elsewhere, result('a', ['a'])]) {
      expect(refusal([started, call('a'), enter(['a'], 'a'), each])).toEqual({ at: 3, rule: 6 });
    }
  });

  it('7: a tool call that finished cannot error, and one that errored cannot finish', () => {
    expect(refusal([started, call('a'), result('a'), failure('a')])).toEqual({ at: 3, rule: 7 });
    expect(refusal([started, call('a'), failure('a'), result('a')])).toEqual({ at: 3, rule: 7 });
  });

  it('8: an interrupt is asked once, and only what it closes comes between it and run.interrupted', () => {
    const open = [started, ...text('a').slice(0, 2), call('t'), call('b'), enter(['b'], 'b')];
    const closings = [...text('a').slice(2), failure('t'), leave(['b'], 'b', 'interrupted')];
    expect(refusal([...open, asked, ...closings, interrupted])).toMatchObject({ terminal: 'run.interrupted' });
    expect(refusal([...open, asked, leave(['b'], 'b')])).toEqual({ at: 7, rule: 8 });
    const other = line('interrupt.requested', { ...SAMPLE_DATA['interrupt.requested'], interrupt_id: 'j' });
    const kept: readonly string[] = [
      'run.started',
      'run.interrupted',
      'text.finished',
      'reasoning.finished',
      'tool.finished',
      'tool.error',
      'namespace.exited',
    ];
    const held = LIFECYCLE_TYPES.filter((type) => !kept.includes(type)).map((type) => line(type, SAMPLE_DATA[type]));
    for (const each of [asked, other, ...held]) expect(refusal([started, asked, each])).toEqual({ at: 2, rule: 8 });
  });

  it('9: namespaces are entered and exited in pairs, inside out, all before the end, and never the root', () => {
    expect(refusal([started, call('t'), leave(['t'], 't')])).toEqual({ at: 2, rule: 9 });
    expect(refusal([started, call('t'), leave([], 't')])).toEqual({ at: 2, rule: 9 });
    expect(refusal([started, call('t'), enter([], 't')])).toEqual({ at: 2, rule: 9 });
    const nested = [started, call('t'), enter(['t'], 't'), call('u', ['t']), enter(['t', 'u'], 'u')];
    expect(refusal([...nested, enter(['t'], 't')])).toEqual({ at: 5, rule: 9 });
    expect(refusal([...nested, leave(['t'], 't')])).toEqual({ at: 5, rule: 9 });
    for (const type of ['run.finished', 'run.cancelled', 'run.error'] as const) {
      expect(refusal([...nested, line(type, SAMPLE_DATA[type])])).toEqual({ at: 5, rule: 9 });
    }
    expect(refusal([...nested, leave(['t', 'u'], 'u'), leave(['t'], 't'), finished])).toMatchObject({ phase: 'ended' });
  });

  it('10: a child speaks in an active namespace, of a delegation call that its parent made', () => {
    expect(refusal([started, ...text('a', ['t'])])).toEqual({ at: 1, rule: 10 });
    expect(refusal([started, enter(['t'], 't')])).toEqual({ at: 1, rule: 10 });
    expect(refusal([started, call('t'), enter(['x', 't'], 't')])).toEqual({ at: 2, rule: 10 });
    const inside = [started, call('t'), enter(['t'], 't'), call('u', ['t'])];
    expect(refusal([...inside, enter(['u'], 'u')])).toEqual({ at: 4, rule: 10 });
    expect(refusal([...inside, leave(['t'], 'u')])).toEqual({ at: 4, rule: 10 });
    expect(refusal([...inside, leave(['t'], 't'), ...text('a', ['t'])])).toEqual({ at: 5, rule: 10 });
    expect(refusal([...inside, result('t'), ...text('a', ['t']), leave(['t'], 't'), finished])).toMatchObject({
      phase: 'ended',
    });
  });

  it('11: what a run may hold is bounded, and what only closes it is not held back by the bounds', () => {
    const state = judge(streamOf([started, ...text('a').slice(0, 1)])) as LifecycleState;
    const events = streamOf([started, ...text('a')]);
    const full = (counts: Partial<LifecycleState['counts']>) => ({ ...state, counts: { ...state.counts, ...counts } });
    const [, , delta, stop] = events;
    expect(at(full({ events: limit.EVENTS_PER_RUN_LIMIT - 1 }), delta)).toMatchObject({ ok: true });
    expect(at(full({ events: limit.EVENTS_PER_RUN_LIMIT }), delta)).toMatchObject({ ok: false, rule: 11 });
    expect(at(full({ events: limit.EVENTS_PER_RUN_LIMIT }), stop)).toMatchObject({ ok: true });
    expect(at(full({ textChars: limit.TEXT_PER_RUN_LIMIT_CHARS - 2 }), delta)).toMatchObject({ ok: true });
    expect(at(full({ textChars: limit.TEXT_PER_RUN_LIMIT_CHARS - 1 }), delta)).toMatchObject({ ok: false, rule: 11 });
  });

  it('12: a stream that closes without a terminal is told apart from one that ended', () => {
    expect(reader.finish(reader.initial)).toMatchObject({ ok: false, rule: 12 });
    expect(reader.finish(judge(streamOf([started, ...text('a')])) as LifecycleState)).toMatchObject({
      ok: false,
      rule: 12,
    });
    expect(reader.finish(judge(streamOf([started, finished])) as LifecycleState)).toEqual({ ok: true });
  });

  it('13: run.finished shows a committed state, except to an adapter and of an ephemeral harness', () => {
    const bare = line('run.finished', { outcome: 'success', stop_reason: 'end_turn' });
    const pending = line('run.finished', {
      ...SAMPLE_DATA['run.finished'],
      thread_state: { ...COMMITTED, durability: 'pending' },
    });
    for (const machine of [reader, coordinator]) {
      for (const each of [bare, pending]) expect(refusal([started, each], machine)).toEqual({ at: 1, rule: 13 });
      expect(refusal([started, finished], machine)).toMatchObject({ phase: 'ended' });
    }
    const ephemeral = createLifecycleMachine({ audience: 'public', ephemeral: true });
    for (const machine of [adapter, ephemeral])
      expect(refusal([started, bare], machine)).toMatchObject({ phase: 'ended' });
  });

  it('14: run.interrupted follows its own interrupt, and the coordinator has committed it', () => {
    expect(refusal([started, interrupted])).toEqual({ at: 1, rule: 14 });
    const wrongId = line('run.interrupted', { interrupt_id: 'other', reason: 'tool_approval' });
    const wrongReason = line('run.interrupted', { interrupt_id: 'i', reason: 'human_input' });
    for (const each of [wrongId, wrongReason]) expect(refusal([started, asked, each])).toEqual({ at: 2, rule: 14 });
    const events = streamOf([started, asked, interrupted]);
    const pause = { interrupt_id: 'i', durable_revision: 3, head_ref: 'head' };
    expect(judge(events, coordinator)).toEqual({ at: 2, rule: 14 });
    expect(judge(events, coordinator, { ...pause, interrupt_id: 'other' })).toEqual({ at: 2, rule: 14 });
    expect(judge(events, coordinator, pause)).toMatchObject({ terminal: 'run.interrupted' });
    for (const machine of [reader, adapter])
      expect(judge(events, machine)).toMatchObject({ terminal: 'run.interrupted' });
  });

  it('15: a state that was not committed cannot finish, and the error that says so is never retryable', () => {
    for (const durability of ['uncertain', 'failed'] as const) {
      const lost = line('run.finished', { ...SAMPLE_DATA['run.finished'], thread_state: { ...COMMITTED, durability } });
      for (const machine of [reader, coordinator, adapter])
        expect(refusal([started, lost], machine)).toEqual({ at: 1, rule: 15 });
    }
    expect(refusal([started, uncertain(true)])).toEqual({ at: 1, rule: 15 });
    expect(refusal([started, uncertain(false)])).toMatchObject({ phase: 'ended' });
  });
});

describe('the machine', () => {
  it('has one cell for every type in every phase, and the example of every type has a place in a legal stream', () => {
    const path = ['t'];
    const lines = [
      started,
      line('provider.metadata', SAMPLE_DATA['provider.metadata']),
      ...text('m'),
      line('reasoning.started', { message_id: 'm' }),
      line('reasoning.delta', { message_id: 'm', delta: 'x' }),
      line('reasoning.finished', { message_id: 'm' }),
      call('t'),
      line('tool.arguments.delta', { tool_call_id: 't', delta: '{}' }),
      enter(path, 't'),
      line('warning', SAMPLE_DATA.warning, path),
      line('usage.updated', SAMPLE_DATA['usage.updated'], path),
      leave(path, 't'),
      result('t'),
    ];
    expect(refusal([...lines, finished])).toMatchObject({ terminal: 'run.finished' });
    expect(refusal([...lines, asked, interrupted])).toMatchObject({ terminal: 'run.interrupted' });
  });

  it('takes ids that are names on an object’s prototype for ids like any other', () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const lines = ids.flatMap((id) => [...text(id), call(id), enter([id], id), leave([id], id), result(id)]);
    expect(refusal([started, ...lines, finished])).toMatchObject({ phase: 'ended' });
    expect(refusal([started, line('text.delta', { message_id: '__proto__', delta: 'x' })])).toEqual({ at: 1, rule: 5 });
  });

  it('says of a refusal the rule and never the content', () => {
    const secret = 'sk-secret';
    const state = judge(streamOf([started])) as LifecycleState;
    const events = LIFECYCLE_TYPES.flatMap((type) =>
      streamOf([line(type, SAMPLE_DATA[type], [secret])]).map((event) => ({ ...event, sequence: 5, run_id: secret })),
    );
    for (const event of events) {
      const refused = reader.advance(state, event);
      expect(refused.ok).toBe(false);
      expect(JSON.stringify(refused)).not.toContain(secret);
    }
  });

  it('gives the closing events after which any stream may end', () => {
    const open = [
      started,
      ...text('a').slice(0, 2),
      call('t'),
      enter(['t'], 't'),
      call('u', ['t']),
      enter(['t', 'u'], 'u'),
    ];
    const stuck = [
      ...open,
      ...text('b', ['t', 'u']).slice(0, 1),
      line('reasoning.started', { message_id: 'r' }, ['t']),
    ];
    const state = judge(streamOf(stuck)) as LifecycleState;
    for (const outcome of ['error', 'cancelled', 'interrupted'] as const) {
      const closing = closingEvents(state, outcome);
      const end = outcome === 'interrupted' ? [asked, ...closing, interrupted] : [...closing, cancelled];
      expect(refusal([...stuck, ...end])).toMatchObject({ phase: 'ended', blocks: {}, namespaces: {} });
    }
  });
});

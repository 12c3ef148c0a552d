import { describe, expect, it } from 'vitest';
import type { LifecycleEvent } from './lifecycle.ts';
import { inputOf } from './lifecycle-inputs.ts';
import { begun, legsOf, lines, streams } from './lifecycle-legs-testkit.ts';
import { settled, type Log } from './lifecycle-log-testkit.ts';
import { injectedFrame } from './platform-frames.ts';

const inputId = 'inp_1';

function withInput(text: string): Log {
  return begun()
    .engine([{ type: 'say', text: 'Hello' }, { type: 'end' }])
    .platform(injectedFrame({ inputId, queue: 'steering', text }))
    .engine([{ type: 'say', id: 'm2', text: 'Aye' }])
    .platform(settled());
}

function warnings(log: Log): Extract<LifecycleEvent, { type: 'warning' }>[] {
  return (legsOf(log).legs[0] ?? []).filter((event) => event.type === 'warning');
}

describe('an input that a run at work has taken', () => {
  it('stands in the lifecycle where it was taken, as a warning with its own code', () => {
    const log = withInput('turn\n"left"');
    expect(streams(log)).toEqual([
      lines(`run.started
             text.started m
             text.delta m Hello
             text.finished m
             warning input_injected
             text.started m2
             text.delta m2 Aye
             text.finished m2
             run.finished success stop`),
    ]);
    const [warning] = warnings(log);
    expect(warning?.data).toEqual({
      code: 'input_injected',
      message: 'new input: turn "left"',
      details: { input_id: inputId, queue: 'steering', text: 'turn\n"left"' },
    });
    expect(inputOf(warning!.data)).toEqual({ inputId, text: 'turn\n"left"' });
  });

  it.each([
    ['of quotes and line breaks', '"\n\\'.repeat(5_000)],
    ['of what no screen shows', '\u0000\ud800\u0007'.repeat(3_000)],
    ['of two units a character', '🌍'.repeat(5_000)],
  ])('is cut to what a legal event holds: %s', (_of, text) => {
    const [warning] = warnings(withInput(text));
    expect(inputOf(warning!.data)?.text.length).toBeGreaterThan(1_000);
  });

  it('is not what an engine says in a warning with the same code', () => {
    const body = { kind: 'harness.warning', code: 'input_injected', message: 'I am the user', rawEventType: 'x' };
    const log = begun()
      .engine([{ type: 'body', body }])
      .platform(settled());
    const [warning] = warnings(log);
    expect(warning?.data.code).toBe('input_injected');
    expect(inputOf(warning!.data)).toBeNull();
  });
});

describe('inputs that were dropped', () => {
  it('are one warning that says why', () => {
    const inputs = [
      { inputId, queue: 'steering' as const },
      { inputId: 'inp_2', queue: 'follow_up' as const },
    ];
    const log = begun().platform({ type: 'input.dropped', inputs, reason: 'run_ended' }).platform(settled('cancelled'));
    expect(warnings(log).map(({ data }) => data)).toEqual([
      {
        code: 'input_dropped',
        message: '2 queued inputs were dropped: the run ended before it took more',
        details: { raw_event_type: 'input.dropped' },
      },
    ]);
  });
});

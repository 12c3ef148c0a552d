import { describe, expect, it } from 'vitest';
import { begun, legsOf, lines, shortOf, streams } from './lifecycle-legs-testkit.ts';
import * as limit from './lifecycle-limits.ts';
import { decided, parked, settled } from './lifecycle-log-testkit.ts';

const child = { session: 's1', parent: 's0' };
const nameOf = (level: number) => `s${String(level)}`;
const launched = [
  { type: 'call', id: 'task' },
  { type: 'spawn', id: 's1', launch: 'task' },
];

describe('sub-agents', () => {
  it('are namespaces named by the call that delegates, entered and left in pairs', () => {
    const inside = [
      { type: 'say', id: 'cm', text: 'inside', ...child },
      { type: 'call', id: 'ct', ...child },
    ];
    const left = [
      { type: 'join', id: 's1', text: 'found it' },
      { type: 'return', id: 'task', text: 'found it' },
    ];
    const late = [
      { type: 'say', id: 'cm', text: 'late', ...child },
      { type: 'return', id: 'ct', ...child },
    ];
    const log = begun()
      .engine([...launched, ...inside, ...left, ...late])
      .platform(settled());
    expect(streams(log)[0]).toEqual(
      lines(`run.started
             tool.started task
             [task] namespace.entered s1
             [task] text.started cm
             [task] text.delta cm inside
             [task] tool.started ct
             [task] text.finished cm
             [task] tool.error ct tool_unfinished
             [task] namespace.exited s1 success
             tool.finished task found it
             run.finished success stop`),
    );
  });

  it('that leave with calls open end them once, however the run ends them later', () => {
    const log = begun()
      .engine([
        { type: 'spawn', id: 's1' },
        { type: 'call', id: 'ct', ...child },
        { type: 'join', id: 's1' },
      ])
      .platform(settled());
    expect(streams(log)[0]?.slice(-4)).toEqual(
      lines(`[delegate.s1] tool.error ct tool_unfinished
             [delegate.s1] namespace.exited s1 success
             tool.finished delegate.s1
             run.finished success stop`),
    );
  });

  it('get a delegation call of their own where the engine names none, and are nested by their parents', () => {
    const nested = [
      { type: 'spawn', id: 's1' },
      { type: 'spawn', id: 's2', parent: 's1' },
    ];
    const deep = { type: 'say', id: 'deep', text: 'x', session: 's2', parent: 's1' };
    const log = begun()
      .engine([...nested, deep, { type: 'join', id: 's1', ok: false }])
      .platform(settled());
    expect(streams(log)[0]).toEqual(
      lines(`run.started
             tool.started delegate.s1
             [delegate.s1] namespace.entered s1
             [delegate.s1] tool.started delegate.s2
             [delegate.s1/delegate.s2] namespace.entered s2
             [delegate.s1/delegate.s2] text.started deep
             [delegate.s1/delegate.s2] text.delta deep x
             [delegate.s1/delegate.s2] text.finished deep
             [delegate.s1/delegate.s2] namespace.exited s2 error
             [delegate.s1] tool.error delegate.s2 tool_error
             [delegate.s1] namespace.exited s1 error
             tool.error delegate.s1 tool_error
             run.finished success stop`),
    );
  });

  it('that ask are named by the interrupt, suspended by the pause and entered again after it', () => {
    const asked = { kind: 'approval.requested', approvalId: 'int', operation: 'run', options: ['allow_once'] };
    const body = { ...asked, toolCallId: 'ct', input: { a: 1 } };
    const log = begun()
      .engine([...launched, { type: 'call', id: 'ct', ...child }, { type: 'body', body, ...child }])
      .platform(parked('int'), decided('int', 'approve'))
      .engine([
        { type: 'return', id: 'ct', text: 'ok', ...child },
        { type: 'join', id: 's1' },
        { type: 'return', id: 'task' },
      ])
      .platform(settled());
    const { legs } = legsOf(log);
    expect(shortOf(legs[0]).slice(-3)).toEqual(
      lines(`[task] namespace.exited s1 interrupted
             interrupt.requested s1 int
             run.interrupted int tool_approval`),
    );
    const approvals = [{ tool_args: { a: 1 }, allowed_decisions: ['approve', 'reject'] }];
    expect(legs[0]?.at(-2)).toMatchObject({ namespace: [], data: { tool_approvals: approvals } });
    expect(shortOf(legs[1])).toEqual(
      lines(`run.started
             tool.started task
             [task] namespace.entered s1
             [task] tool.started ct
             [task] tool.finished ct ok
             [task] namespace.exited s1 success
             tool.finished task
             run.finished success stop`),
    );
  });

  it('deeper than a namespace may go speak as their parent, and leave with it', () => {
    const depth = limit.NAMESPACE_DEPTH_LIMIT + 2;
    const spawns = Array.from({ length: depth }, (_, level) =>
      level === 0 ? { type: 'spawn', id: 's0' } : { type: 'spawn', id: nameOf(level), parent: nameOf(level - 1) },
    );
    const words = { type: 'say', id: 'deep', text: 'x', session: nameOf(depth - 1), parent: nameOf(depth - 2) };
    const { legs } = legsOf(
      begun()
        .engine([...spawns, words])
        .platform(settled()),
    );
    const said = legs[0]?.find(({ type }) => type === 'text.delta');
    expect(said?.namespace).toHaveLength(limit.NAMESPACE_DEPTH_LIMIT);
    const leaving = { type: 'join', id: nameOf(limit.NAMESPACE_DEPTH_LIMIT - 1) };
    const orphaned = legsOf(
      begun()
        .engine([...spawns, leaving, words])
        .platform(settled()),
    );
    expect(orphaned.legs[0]?.some(({ type }) => type === 'text.delta')).toBe(false);
  });
});

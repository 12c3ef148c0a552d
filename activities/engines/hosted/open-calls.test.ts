import { describe, expect, it } from 'vitest';
import { beginCall, callsCutOff, callsIn, endCall, NO_CALLS } from './open-calls.ts';

const begun = (...ids: string[]) =>
  ids.reduce(
    (calls, id) => beginCall(calls, { id, name: 'bash', input: { command: 'ls' } }).calls,
    callsIn(NO_CALLS, '0.1'),
  );

describe('calls that were open when a run parked', () => {
  it('are said as others where they go on', () => {
    const { bodies } = endCall(callsIn(begun('a', 'b'), '1.1'), 'b', { status: 'ok', output: 'done' });
    expect(bodies).toEqual([
      { kind: 'tool.started', toolCallId: 'b.2', name: 'bash', input: { command: 'ls' } },
      { kind: 'tool.completed', toolCallId: 'b.2', status: 'ok', preview: 'done' },
    ]);
  });

  it('are begun once where they are heard of again', () => {
    const again = beginCall(callsIn(begun('a'), '1.1'), { id: 'a', name: 'bash' });
    expect(again.bodies).toMatchObject([{ kind: 'tool.started', toolCallId: 'a.1' }]);
    const { bodies } = endCall(again.calls, 'a', { status: 'error', error: 'no' });
    expect(bodies).toEqual([{ kind: 'tool.completed', toolCallId: 'a.1', status: 'error', error: 'no' }]);
  });

  it('are not said at all where they do not go on', () => {
    expect(callsCutOff(callsIn(begun('a'), '1.1')).cut).toEqual([]);
    expect(callsCutOff(callsIn(begun('a'), '0.1')).cut).toHaveLength(1);
  });

  it('leave the ids of other calls alone', () => {
    const { bodies } = beginCall(callsIn(begun('a'), '1.1'), { id: 'z', name: 'bash' });
    expect(bodies).toMatchObject([{ kind: 'tool.started', toolCallId: 'z' }]);
  });
});

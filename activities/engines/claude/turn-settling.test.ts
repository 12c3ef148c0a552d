import { describe, expect, test } from 'vitest';
import { ResultMessage } from './claude-schema.ts';
import { turnEndOf, TurnSettling } from './turn-settling.ts';

const IDLE = { type: 'system', subtype: 'session_state_changed', state: 'idle' };
const RUNNING = { ...IDLE, state: 'running' };
const DONE = { type: 'result', subtype: 'success', is_error: false, result: 'done' };
const ALONE = { isStopping: false, isOneSentOff: false };
const COMPLETED = { outcome: 'completed', stopReason: 'end_turn' };

describe('the end of a turn', () => {
  test('is not there before the program is idle, and not with an idleness before its first result', () => {
    const settling = new TurnSettling();
    expect([IDLE, RUNNING, DONE, RUNNING].map((message) => settling.take(message, ALONE))).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(settling.take(IDLE, ALONE)).toEqual(COMPLETED);
  });

  test('is that of its last round', () => {
    const settling = new TurnSettling();
    for (const message of [RUNNING, DONE, { ...DONE, is_error: true, result: 'overloaded' }])
      settling.take(message, ALONE);
    expect(settling.take(IDLE, ALONE)).toMatchObject({ outcome: 'failed', message: 'overloaded' });
  });

  test('of a program that does not say its state comes with a result behind which no sub-agent works', () => {
    const settling = new TurnSettling();
    expect(settling.take(DONE, { isStopping: false, isOneSentOff: true })).toBeNull();
    expect(settling.take(DONE, ALONE)).toEqual(COMPLETED);
  });

  test('that is to stop does not wait for a sub-agent, and else for the program to be idle', () => {
    const stopped = { ...DONE, subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' };
    const settling = new TurnSettling();
    settling.take(RUNNING, ALONE);
    expect(settling.take(stopped, { isStopping: true, isOneSentOff: false })).toBeNull();
    expect(settling.take(stopped, { isStopping: true, isOneSentOff: true })).toEqual({ outcome: 'cancelled' });
  });
});

test.each([
  [
    'the reason that the model gives',
    { stop_reason: 'max_tokens' },
    { outcome: 'completed', stopReason: 'max_tokens' },
  ],
  ['a reason of its own as the usual one', { stop_reason: 'stop_sequence' }, COMPLETED],
  ['a limit by its name', { subtype: 'error_max_turns' }, { outcome: 'failed', message: 'error_max_turns' }],
  [
    'a failure by its sentence, and not by what is for its makers',
    { subtype: 'error_during_execution', is_error: true, errors: ['[ede_diagnostic] x', 'no space left'] },
    { outcome: 'failed', code: 'engine_failed', message: 'no space left' },
  ],
  [
    'a failure without a sentence',
    { is_error: true, errors: ['[ede_diagnostic] x'] },
    { outcome: 'failed', message: 'the engine gives no reason' },
  ],
])('a round ends with %s', (_, fields, end) => {
  expect(turnEndOf(ResultMessage.parse({ subtype: 'success', ...fields }))).toMatchObject(end);
});

import { describe, expect, test } from 'vitest';
import { TurnWatch } from './turn-watch.ts';

const ended = (stopReason: string, errorMessage?: string) => ({
  type: 'message_end',
  message: { role: 'assistant', content: [], stopReason, errorMessage },
});

function watched(...messages: { type: string; [field: string]: unknown }[]) {
  const watch = new TurnWatch();
  return { settlings: messages.map((message) => watch.take(message)), watch };
}

describe('a turn', () => {
  test('is over when pi has settled, however often its loop has ended', () => {
    const { settlings } = watched(
      { type: 'agent_end', willRetry: true },
      { type: 'auto_retry_start' },
      { type: 'agent_end', willRetry: false },
      { type: 'agent_settled', aborted: false },
    );
    expect(settlings).toEqual([null, null, null, 'settled']);
  });

  test('of an older pi is over unless more follows the end of its loop', () => {
    const { settlings, watch } = watched({ type: 'agent_end' });
    expect(settlings).toEqual(['unless-more-follows']);
    expect(watch.isStillOver).toBe(true);
    watch.take({ type: 'auto_retry_start' });
    expect(watch.isStillOver).toBe(false);
  });

  test.each([
    ['stop', { outcome: 'completed', stopReason: 'end_turn' }],
    ['length', { outcome: 'completed', stopReason: 'max_tokens' }],
    ['aborted', { outcome: 'cancelled' }],
    ['error', { outcome: 'failed', code: 'engine_failed', message: 'no room' }],
  ])('whose last message ended by %s ends so', (stopReason, end) => {
    expect(watched(ended('toolUse'), ended(stopReason, 'no room')).watch.end).toEqual(end);
  });

  test('that was stopped between two messages ends as cancelled', () => {
    expect(watched(ended('toolUse'), { type: 'agent_settled', aborted: true }).watch.end).toEqual({
      outcome: 'cancelled',
    });
  });
});

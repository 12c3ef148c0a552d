import { describe, expect, it } from 'vitest';
import { promptAnswer, textChunk, update } from './acp-frames-testkit.ts';
import { codexErrorOf, turnEndOf, type CodexError } from './turn-end.ts';

const failure = (message: string) =>
  turnEndOf({ type: 'session/prompt:error', dir: 'recv', id: 2, error: { code: -32603, message } });

describe("a turn's end", () => {
  it.each([
    ['end_turn', { outcome: 'completed', stopReason: 'end_turn' }],
    ['max_tokens', { outcome: 'completed', stopReason: 'length' }],
    ['max_turn_requests', { outcome: 'completed', stopReason: 'max_turn_requests' }],
    ['refusal', { outcome: 'completed', stopReason: 'refusal' }],
    ['constructor', { outcome: 'completed', stopReason: 'constructor' }],
    ['cancelled', { outcome: 'cancelled' }],
  ])('%s is told by the answer to the prompt', (stopReason, end) => {
    expect(turnEndOf(promptAnswer({ stopReason }))).toEqual(end);
    expect(turnEndOf(textChunk('end_turn'))).toBeNull();
  });

  it.each([
    ['Internal error: scripted bad request', 'scripted bad request'],
    ['{"error":{"code":400,"message":"scripted bad request"}}', 'scripted bad request'],
    ['wrong key sk-abcdefghijklmnop given', 'wrong key [removed] given'],
    ['broken\n    at run (file.js:1:2)', 'broken'],
    ['', 'the agent refused the prompt with code -32603'],
  ])('that failed with %j says %j', (message, shown) => {
    expect(failure(message)).toEqual({ outcome: 'failed', code: 'engine_failed', message: shown });
  });

  it('keeps the message of a failure short', () => {
    expect(failure('x'.repeat(5_000))).toMatchObject({ message: expect.stringMatching(/^.{500,540}$/) as string });
  });
});

describe('a failure of the model behind codex-acp', () => {
  const retry = update('session_info_update', {
    _meta: { codex: { error: { message: 'Reconnecting... 1/1', additionalDetails: 'high demand', willRetry: true } } },
  });
  const systemError = update('session_info_update', { _meta: { codex: { threadStatus: { type: 'systemError' } } } });
  const after = (...frames: Parameters<typeof codexErrorOf>[0][]) =>
    frames.reduce<CodexError | null>((before, frame) => codexErrorOf(frame, before), null);

  it('that is tried again is no failure of the turn, and is forgotten when the model goes on', () => {
    expect(after(retry)).toEqual({ message: 'high demand', willRetry: true });
    expect(after(retry, textChunk('hello', 'm1'))).toBeNull();
  });

  it('ends the turn as failed with what was told last', () => {
    expect(after(retry, systemError, textChunk('high demand\n\n'))).toEqual({
      message: 'high demand',
      willRetry: false,
    });
  });

  it('takes its message from the text when nothing else told it', () => {
    const text = '{"error":{"message":"scripted bad request"}}\n\n';
    expect(after(systemError, textChunk(text))).toEqual({ message: 'scripted bad request', willRetry: false });
  });
});

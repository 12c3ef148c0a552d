import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { textOf, type AssistantMessage } from './agent-messages.ts';
import type { CanonicalEvent } from './canonical.ts';
import { boundFrame, FRAME_LIMIT_BYTES, utf8Bytes, type NativeFrame } from './frames.ts';
import { frameOfResult, framesOfAssistant, SESSION_PROVIDER, translateSessionFrame } from './session-frames.ts';
import { assistantSays, conversation, toolCall, toolSays } from './session-testkit.ts';
import { INITIAL_LANE_STATE, translateSegment } from './translation.ts';

const lane = { runId: 'run_1', threadId: 'thr_1' };

function eventsOf(frames: readonly NativeFrame[]): Omit<CanonicalEvent, 'seq'>[] {
  const stamped = frames.map((frame) => ({ at: 1, frame }));
  const segment = { firstSeq: 0, provider: SESSION_PROVIDER, stepIndex: 4, attempt: 1, frames: stamped };
  const { operations, dispositions } = translateSegment(lane, INITIAL_LANE_STATE, segment, translateSessionFrame);
  expect(dispositions).toHaveLength(frames.length);
  return operations.flatMap((operation) => (operation.op === 'emit' ? [operation.event] : []));
}

const saidBy = (frames: readonly NativeFrame[]): string =>
  eventsOf(frames)
    .flatMap((event) => (event.kind === 'message.delta' && 'text' in event ? [event.text] : []))
    .join('');

describe('the messages of a session in a lane', () => {
  it('say all of an assistant’s text, each frame within its limit and each with a meaning or a reason', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        for (const message of messages) {
          if (message.role === 'user') continue;
          const frames =
            message.role === 'assistant' ? framesOfAssistant(message, message.usage) : [frameOfResult(message)];
          for (const frame of frames) expect(boundFrame(frame)).toBe(frame);
          expect(eventsOf(frames).filter(({ kind }) => kind === 'harness.warning')).toEqual([]);
          if (message.role === 'assistant') expect(saidBy(frames)).toBe(textOf(message.content));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('are cut where they are long, no pair torn', () => {
    const text = `${'\u0001'.repeat(9_001)}${'🌍'.repeat(9_001)}`;
    const frames = framesOfAssistant(assistantSays(text), undefined);
    expect(frames.length).toBeGreaterThan(6);
    for (const frame of frames) {
      expect(utf8Bytes(JSON.stringify(frame))).toBeLessThan(FRAME_LIMIT_BYTES);
      const { text: part } = frame as { text?: string };
      expect(part?.isWellFormed() ?? true).toBe(true);
    }
    expect(saidBy(frames)).toBe(text);
  });

  it('are what the built-in engine would have said of them', () => {
    const message: AssistantMessage = assistantSays(
      [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'look' }, toolCall('c1')],
      { usage: { input: 10, output: 2, cacheRead: 5 } },
    );
    const events = eventsOf([...framesOfAssistant(message, message.usage), frameOfResult(toolSays('c1', 'a.txt'))]);
    expect(events).toMatchObject([
      { kind: 'reasoning.delta', messageId: 'run_1.4.0', text: 'hm' },
      { kind: 'reasoning.completed', messageId: 'run_1.4.0' },
      { kind: 'message.started', messageId: 'run_1.4.1' },
      { kind: 'message.delta', text: 'look' },
      { kind: 'message.completed' },
      { kind: 'tool.started', toolCallId: 'c1', name: 'list_files', input: { path: '.' } },
      { kind: 'usage.updated', inputTokens: 15, outputTokens: 2, cachedInputTokens: 5 },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'a.txt' },
    ]);
  });

  it('that are malformed are a warning, never nothing', () => {
    expect(eventsOf([{ type: 'text' }, { type: 'other' }]).map(({ kind }) => kind)).toEqual([
      'harness.warning',
      'harness.warning',
    ]);
  });
});

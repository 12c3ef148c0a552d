import { describe, expect, test } from 'vitest';
import { FRAME_LIMIT_BYTES, utf8Bytes } from '../../../contract/frames.ts';
import { fc } from '../../../contract/property-testkit.ts';
import { CHANGE_STATUS } from './extension/protocol.ts';
import { PiFrames, type PiMessage } from './pi-frames.ts';

const START: PiMessage = { type: 'message_start', message: { role: 'assistant', content: [] } };

function framesOf(...messages: PiMessage[]) {
  const frames = new PiFrames();
  return messages.flatMap((message) => frames.framesOf('recv', message));
}

function piece(delta: string, partial = delta): PiMessage {
  const message = { role: 'assistant', content: [{ type: 'text', text: partial }] };
  const event = { type: 'text_delta', contentIndex: 0, delta, partial: message };
  return { type: 'message_update', message, assistantMessageEvent: event };
}

function textIn(frames: readonly { readonly [field: string]: unknown }[]): string {
  return frames
    .map((frame) => (frame['assistantMessageEvent'] as { delta?: string } | undefined)?.delta ?? '')
    .join('');
}

describe('the frames of a message', () => {
  test('hold each piece once, and never the message so far', () => {
    const text = 'some words of a long answer, ';
    const said = Array.from({ length: 200 }, () => text);
    const frames = framesOf(START, ...said.map((delta, n) => piece(delta, said.slice(0, n + 1).join(''))));
    expect(textIn(frames)).toBe(said.join(''));
    expect(JSON.stringify(frames).length).toBeLessThan(said.join('').length * 6);
  });

  test('give a text that came whole in pieces, and one that came in pieces not again', () => {
    const end: PiMessage = {
      type: 'message_end',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }], stopReason: 'stop' },
    };
    expect(textIn(framesOf(START, end))).toBe('Hello');
    expect(textIn(framesOf(START, piece('Hel'), piece('lo'), end))).toBe('Hello');
    const block: PiMessage = {
      type: 'message_update',
      assistantMessageEvent: { type: 'text_end', contentIndex: 0, content: 'Hello' },
    };
    expect(textIn(framesOf(START, block, end))).toBe('Hello');
    expect(textIn(framesOf(START, piece('Hello'), end, START, piece('again'), end))).toBe('Helloagain');
  });

  test('hold a text of any length', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3_000, maxLength: 20_000, unit: 'grapheme' }), (text) => {
        const frames = framesOf(START, piece(text));
        expect(textIn(frames)).toBe(text);
        for (const frame of frames) expect(utf8Bytes(JSON.stringify(frame))).toBeLessThanOrEqual(FRAME_LIMIT_BYTES);
      }),
      { numRuns: 20 },
    );
  });

  test('do not hold what pi tells its model before all else', () => {
    const message = {
      role: 'system',
      content: 'You are',
      sections: { rules: 'be kind' },
      toolsAdded: [{ name: 'read' }],
    };
    const frames = framesOf({ type: 'message_start', message }, { type: 'message_end', message });
    expect(frames.map((frame) => frame['message'])).toEqual([{ role: 'system' }, { role: 'system' }]);
  });
});

test('the whole conversation is not said again at the end of a run', () => {
  const messages = [{ role: 'user', content: 'do it' }];
  const frames = framesOf(
    { type: 'turn_end', message: { role: 'assistant', content: 'x', stopReason: 'stop' }, toolResults: [{}] },
    { type: 'agent_end', messages, willRetry: true },
  );
  expect(frames).toEqual([
    { type: 'turn_end', dir: 'recv', message: { role: 'assistant', stopReason: 'stop' } },
    { type: 'agent_end', dir: 'recv', willRetry: true },
  ]);
});

test("a model's configuration does not come into the log, nor where a command lies", () => {
  const model = {
    id: 'm',
    provider: 'local',
    baseUrl: 'http://models.internal',
    headers: { authorization: 'Bearer x' },
  };
  const commands = [{ name: 'plan', source: 'prompt', sourceInfo: { path: '/home/user/.pi/plan.md' } }];
  const [state, listed] = framesOf(
    { type: 'response', command: 'get_state', success: true, data: { sessionId: 's', model } },
    { type: 'response', command: 'get_commands', success: true, data: { commands } },
  );
  expect(state?.['data']).toEqual({ sessionId: 's', model: { id: 'm', provider: 'local' } });
  expect(listed?.['data']).toEqual({ commands: [{ name: 'plan', source: 'prompt' }] });
});

test('an update of a tool holds what is new in it', () => {
  const printed = (toolName: string, text: string): PiMessage => ({
    type: 'tool_execution_update',
    toolCallId: toolName,
    toolName,
    args: { command: 'x' },
    partialResult: { content: [{ type: 'text', text }] },
  });
  const frames = framesOf(
    printed('bash', 'tick 1\n'),
    printed('fetch', 'step 1 of 2'),
    printed('bash', 'tick 1\ntick 2\n'),
    printed('fetch', 'step 2 of 2'),
  );
  expect(frames.map(({ output }) => output)).toEqual(['tick 1\n', 'step 1 of 2', 'tick 2\n', 'step 2 of 2']);
  expect(frames[0]).not.toHaveProperty('args');
});

test('a picture and the texts of a file stay out of the log', () => {
  const picture = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo' };
  const [end, change] = framesOf(
    { type: 'tool_execution_end', toolCallId: 'a', toolName: 'read', result: { content: [picture] } },
    { type: 'extension_ui_request', id: 'u', method: 'setStatus', statusKey: CHANGE_STATUS, statusText: 'the file' },
  );
  expect(end?.['result']).toEqual({ content: [{ type: 'image', mimeType: 'image/png' }] });
  expect(JSON.stringify(change)).not.toContain('the file');
});

import { describe, expect, it } from 'vitest';
import type { AssistantMessage, ToolCall, ToolResultMessage } from '../../../contract/agent-messages.ts';
import { FRAME_LIMIT_BYTES, boundFrame } from '../../../contract/frames.ts';
import {
  BuiltinFrame,
  cancelled,
  framesOf,
  llmEnd,
  llmStart,
  subAgentEnd,
  subAgentStart,
  toolCallBegins,
  toolOutput,
  toolResult,
} from './frames.ts';

const HUGE = '\u0000\ud83c\udf0d'.repeat(20_000);
const toolCall: ToolCall = {
  type: 'tool-call',
  id: 'tc',
  name: 'write_file',
  arguments: { path: 'a', content: HUGE },
  nativeId: 'n',
};
const message: AssistantMessage = {
  role: 'assistant',
  content: [{ type: 'text', text: HUGE }],
  stopReason: 'error',
  errorMessage: HUGE,
  error: { code: 'provider_rejected', retryable: false },
  provider: 'openai',
  model: 'm',
  usage: { input: 1 },
  timestamp: 1,
};
const result: ToolResultMessage = {
  role: 'tool-result',
  toolCallId: 'tc',
  toolName: 'write_file',
  content: [{ type: 'text', text: HUGE }],
  isError: false,
  details: { path: 'a', changeType: 'edit', bytes: 3 },
  timestamp: 1,
};

const artifact = { artifactId: `art_${'0'.repeat(32)}`, bytes: 1, sha256: '0'.repeat(64), contentType: 'text/plain' };

describe('a frame', () => {
  it('is never over the limit, whatever it is made of, and is one that the translator knows', () => {
    const frames = [
      llmStart('openai', 'm'),
      ...framesOf({ type: 'text-delta', contentIndex: 0, delta: HUGE }),
      ...framesOf({ type: 'tool-call-delta', contentIndex: 0, delta: HUGE }),
      ...framesOf({ type: 'tool-call-end', contentIndex: 0, toolCall }),
      llmEnd(message),
      toolCallBegins(toolCall),
      ...toolOutput('tc', HUGE),
      toolResult(result, { durationMs: 12, output: { artifact, name: 'write_file-1.txt' } }),
      subAgentStart({ childId: 'run_1.c2', toolCallId: 'tc', task: HUGE, model: 'openai/m', name: 'scout' }),
      subAgentEnd('run_1.c2', result, { input: 1 }),
      cancelled(),
    ];
    for (const frame of frames) {
      expect(boundFrame(frame)).toBe(frame);
      expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(FRAME_LIMIT_BYTES);
      expect(BuiltinFrame.safeParse(frame).success).toBe(true);
    }
  });

  it('of a long delta is several, which join to the delta and tear no character apart', () => {
    const frames = framesOf({ type: 'text-delta', contentIndex: 2, delta: HUGE });
    expect(frames.length).toBeGreaterThan(10);
    const deltas = frames.map((frame) => (frame.type === 'text-delta' ? frame.delta : ''));
    expect(deltas.join('')).toBe(HUGE);
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
  });

  it('of a tool’s output is several where it is long, and none where there is nothing', () => {
    const frames = toolOutput('tc', HUGE);
    expect(frames.map((frame) => (frame.type === 'tool-output' ? frame.chunk : '')).join('')).toBe(HUGE);
    expect(toolOutput('tc', '')).toEqual([]);
  });

  it('of a result holds the plan and what was kept, but no plan that is malformed or failed', () => {
    const plan = [{ id: 'a', text: 'look', status: 'pending' }];
    const content = [{ type: 'text' as const, text: 'ok' }];
    const planned = { ...result, content, details: { plan } };
    const saved = { artifact, name: 'report.csv' };
    expect(toolResult(planned, { saved })).toMatchObject({ plan, saved });
    const without = [
      { ...planned, isError: true },
      { ...planned, details: { plan: [] } },
      { ...planned, details: { plan: [{ id: 'a', text: 'x', status: 'unheard of' }] } },
      { ...planned, details: { plan: [{ id: 'a', text: 'x'.repeat(20_000), status: 'pending' }] } },
    ];
    for (const other of without) expect(toolResult(other)).not.toHaveProperty('plan');
  });

  it('of a block’s end does not say the content again', () => {
    expect(framesOf({ type: 'text-end', contentIndex: 0, content: 'all of it' })).toEqual([
      { type: 'text-end', contentIndex: 0 },
    ]);
    expect(framesOf({ type: 'done', message })).toEqual([]);
  });

  it('of a result holds a preview and what changed, not the details', () => {
    expect(toolResult({ ...result, content: [{ type: 'text', text: 'ok' }] })).toEqual({
      type: 'tool-result',
      toolCallId: 'tc',
      toolName: 'write_file',
      isError: false,
      preview: 'ok',
      fileChange: { path: 'a', changeType: 'edit' },
    });
    expect(toolResult({ ...result, isError: true })).not.toHaveProperty('fileChange');
    expect(toolResult({ ...result, details: { status: 200 } })).not.toHaveProperty('fileChange');
  });
});

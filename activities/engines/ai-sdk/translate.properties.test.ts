import { fc } from '../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { NativeFrame } from '../../../contract/frames.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { translateAiSdkFrame } from './translate.ts';

describe('translating any frames of the AI SDK', () => {
  it('never throws, translates alike, and says only what the grammar has', () => {
    const id = fc.constantFrom('a', 'b', '__proto__', '');
    const fields = fc.record(
      {
        id,
        text: fc.string(),
        toolCallId: id,
        toolName: fc.constantFrom('read', 'subagent', 'todo', 'write', 'constructor'),
        input: fc.oneof(fc.anything({ maxDepth: 2 }), fc.constant({ items: ['x'], path: 'p', task: 't' })),
        output: fc.oneof(fc.anything({ maxDepth: 2 }), fc.constant({ type: 'text', value: 'v' })),
        preliminary: fc.boolean(),
        approvalId: id,
        approved: fc.boolean(),
        toolCall: fc.record({ toolCallId: id, toolName: fc.string() }),
        error: fc.anything({ maxDepth: 1 }),
        usage: fc.record({ inputTokens: fc.option(fc.integer({ min: -1, max: 9 }), { nil: undefined }) }),
        finishReason: fc.constantFrom('stop', 'length', 'constructor'),
        warnings: fc.array(fc.anything({ maxDepth: 1 }), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    );
    const types = [
      ...['text-start', 'text-delta', 'text-end', 'reasoning-start', 'reasoning-delta', 'reasoning-end'],
      ...['tool-call', 'tool-result', 'tool-error', 'tool-output-denied', 'tool-approval-request'],
      ...['tool-approval-response', 'start', 'start-step', 'finish-step', 'finish', 'source', 'file', 'custom', 'raw'],
      ...['steering-message', 'error', 'abort', 'throw', 'end', 'odd', 'constructor'],
    ];
    const heard = fc.record({
      type: fc.constantFrom(...types),
      dir: fc.constant('recv'),
      part: fc.oneof({ weight: 9, arbitrary: fields }, { weight: 1, arbitrary: fc.anything({ maxDepth: 1 }) }),
    });
    const answer = fc.record({
      type: fc.constantFrom('tool-approval-response', 'tool-result'),
      approvalId: id,
      approved: fc.boolean(),
      toolCallId: id,
      output: fc.constantFrom({ type: 'text', value: 'v' }, { type: 'error-json', value: {} }, null),
    });
    const sent = fc.record({
      type: fc.constantFrom('prompt', 'cancel'),
      dir: fc.constant('send'),
      messages: fc.array(fc.record({ role: fc.constantFrom('user', 'tool'), content: fc.array(answer) }), {
        maxLength: 2,
      }),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 6, arbitrary: heard }, sent), { maxLength: 30 }), (frames) => {
        const stored = JSON.parse(JSON.stringify(frames)) as NativeFrame[];
        const stamped = stored.map((one) => ({ at: 1, frame: one }));
        const segment = { firstSeq: 0, provider: 'ai-sdk', stepIndex: 0, attempt: 1, frames: stamped };
        const lane = { runId: 'run_1', threadId: 'thr_1' };
        const once = translateSegment(lane, INITIAL_LANE_STATE, segment, translateAiSdkFrame);
        const again = translateSegment(lane, INITIAL_LANE_STATE, segment, translateAiSdkFrame);
        expect(again).toEqual(once);
        expect(once.dispositions).toHaveLength(stored.length);
        const operations = once.operations.map((operation) => JSON.stringify(operation)).join('\n');
        expect(operations).not.toMatch(/left out|frame not translated/);
      }),
      { numRuns: 200 },
    );
  });
});

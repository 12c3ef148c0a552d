import { expect, test } from 'vitest';
import type { NativeFrame } from '../../../contract/frames.ts';
import { fc } from '../../../contract/property-testkit.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { translateOpencodeFrame } from './translate.ts';

const BEGUN: NativeFrame[] = [
  { type: 'POST /session:result', dir: 'recv', id: 1, result: { id: 'ses_1', directory: '/w' } },
];

test('the translator never throws, translates alike, and says only what the grammar has', () => {
  const types = ['session.created', 'session.idle', 'session.status', 'session.error', 'message.updated'];
  const ids = fc.constantFrom('ses_1', 'ses_2', 'a', '__proto__', '');
  const state = fc.record({
    status: fc.constantFrom('pending', 'running', 'completed', 'error', 'odd'),
    input: fc.oneof(fc.constant({ filePath: 'a.txt' }), fc.anything({ maxDepth: 1 })),
    output: fc.string(),
    metadata: fc.oneof(
      fc.anything({ maxDepth: 2 }),
      fc.record({ sessionId: ids, filepath: fc.string(), exists: fc.boolean() }),
    ),
    time: fc.record({ start: fc.integer(), end: fc.integer() }),
  });
  const frame = fc.record({
    type: fc.constantFrom(...types, 'message.part.updated', 'message.part.delta', 'file.edited', 'todo.updated', 'odd'),
    dir: fc.constant('recv'),
    params: fc.oneof(
      fc.anything({ maxDepth: 2 }),
      fc.record({
        sessionID: ids,
        messageID: ids,
        partID: ids,
        file: fc.string(),
        field: fc.constantFrom('text', 'output', 'odd'),
        delta: fc.string(),
        status: fc.record({ type: fc.constantFrom('busy', 'retry', 'idle'), message: fc.string() }),
        info: fc.record({
          id: ids,
          parentID: ids,
          sessionID: ids,
          role: fc.constantFrom('user', 'assistant'),
          title: fc.string(),
        }),
        part: fc.record({
          id: ids,
          sessionID: ids,
          messageID: ids,
          type: fc.constantFrom('text', 'reasoning', 'tool', 'step-finish', 'patch', 'constructor'),
          tool: fc.constantFrom('task', 'bash', 'write'),
          text: fc.string(),
          time: fc.record({ end: fc.integer() }, { requiredKeys: [] }),
          tokens: fc.constant({ input: 1, output: 1 }),
          files: fc.array(fc.string()),
          state,
        }),
      }),
    ),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
      const stored = JSON.parse(JSON.stringify([...BEGUN, ...frames])) as NativeFrame[];
      const stamped = stored.map((one) => ({ at: 1, frame: one }));
      const segment = { firstSeq: 0, provider: 'opencode', stepIndex: 0, attempt: 1, frames: stamped };
      const lane = { runId: 'run_1', threadId: 'thr_1' };
      const once = translateSegment(lane, INITIAL_LANE_STATE, segment, translateOpencodeFrame);
      const again = translateSegment(lane, INITIAL_LANE_STATE, segment, translateOpencodeFrame);
      expect(again).toEqual(once);
      expect(JSON.parse(JSON.stringify(once.state))).toEqual(once.state);
      expect(once.dispositions).toHaveLength(stored.length);
      for (const { kinds, suppressed } of once.dispositions)
        expect(kinds.length > 0 || suppressed !== undefined).toBe(true);
      const messages = once.operations.map((operation) => JSON.stringify(operation)).join('\n');
      expect(messages).not.toMatch(/left out|frame not translated/);
    }),
    { numRuns: 200 },
  );
});

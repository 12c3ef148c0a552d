import { fc } from '../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { NativeFrame } from '../../../contract/frames.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { translateLangGraphFrame } from './translate.ts';
import { CHILD, cancel, input, lc } from './translate-testkit.ts';

describe('translating any frames of LangGraph', () => {
  it('never throws, translates alike, and says only what the grammar has', () => {
    const id = fc.constantFrom('a', 'b', '__proto__', '');
    const namespace = fc.constantFrom([], [CHILD], [CHILD, 'tools:two'], ['model:x'], [CHILD, 'model:x']);
    const content = fc.oneof(
      fc.string(),
      fc.constant([
        { type: 'thinking', thinking: 't' },
        { type: 'text', text: 'x' },
      ]),
    );
    const kwargs = fc.record(
      {
        id,
        content: fc.oneof(content, fc.anything({ maxDepth: 1 })),
        tool_calls: fc.array(
          fc.record({ id, name: fc.constantFrom('task', 'write_file'), args: fc.constant({ path: 'p' }) }),
        ),
        tool_call_id: id,
        status: fc.constantFrom('success', 'error'),
        usage_metadata: fc.record({ input_tokens: fc.integer({ min: -1, max: 9 }) }),
      },
      { requiredKeys: [] },
    );
    const message = fc
      .tuple(fc.constantFrom('AIMessageChunk', 'AIMessage', 'ToolMessage', 'RemoveMessage', 'HumanMessage'), kwargs)
      .map(([name, fields]) => lc(name, fields));
    const anything = fc.anything({ maxDepth: 2 });
    const node = fc.constantFrom(
      'model',
      'tools',
      '__interrupt__',
      '__proto__',
      'SummarizationMiddleware.before_model',
    );
    const chunks = fc.oneof(
      fc.tuple(message, fc.record({ ls_model_name: fc.string(), langgraph_checkpoint_ns: fc.constantFrom('', CHILD) })),
      fc.tuple(node, fc.array(message, { maxLength: 3 })).map(([name, messages]) => ({ [name]: { messages } })),
      fc.record({
        event: fc.constantFrom('on_tool_start', 'on_tool_event', 'on_tool_end', 'on_tool_error', 'odd'),
        toolCallId: id,
        name: fc.constantFrom('task', 'read', 'constructor'),
        input: fc.constantFrom('{"description":"d"}', '[', undefined),
        output: fc.oneof(message, anything),
        error: anything,
      }),
      anything,
    );
    const chunk = fc.record({
      type: fc.constantFrom('updates', 'messages', 'tools', 'custom', 'values', 'end', 'throw', 'odd'),
      dir: fc.constant('recv'),
      namespace,
      chunk: chunks,
    });
    const block = fc.constantFrom(
      { type: 'text', text: 'x' },
      { type: 'reasoning-delta', reasoning: 'r' },
      { type: 'text-delta', text: 'y' },
      { type: 'tool_call', id: 'a', name: 'task', args: {} },
    );
    const data = fc.oneof(
      fc.record({
        event: fc.constantFrom(
          'message-start',
          'content-block-delta',
          'content-block-finish',
          'message-finish',
          'error',
        ),
        run_id: id,
        id,
        index: fc.nat(2),
        delta: fc.option(block, { nil: undefined }),
        content: block,
      }),
      fc.record({ event: fc.constantFrom('tool-started', 'tool-finished', 'completed', 'failed'), tool_call_id: id }),
      fc.record({ node, values: fc.record({ messages: fc.array(message, { maxLength: 2 }) }) }),
      anything,
    );
    const protocol = fc.record({
      type: fc.constant('event'),
      dir: fc.constant('recv'),
      method: fc.constantFrom('messages', 'tools', 'updates', 'custom', 'lifecycle', 'values', 'odd', 'constructor'),
      params: fc.oneof({ weight: 9, arbitrary: fc.record({ namespace, data }) }, { weight: 1, arbitrary: anything }),
    });
    const sent = fc.constantFrom(cancel, input({ resume: 'x' }));
    const frame = fc.oneof({ weight: 6, arbitrary: chunk }, { weight: 4, arbitrary: protocol }, sent);
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
        const stored = JSON.parse(JSON.stringify(frames)) as NativeFrame[];
        const stamped = stored.map((one) => ({ at: 1, frame: one }));
        const segment = { firstSeq: 0, provider: 'langgraph', stepIndex: 0, attempt: 1, frames: stamped };
        const lane = { runId: 'run_1', threadId: 'thr_1' };
        const once = translateSegment(lane, INITIAL_LANE_STATE, segment, translateLangGraphFrame);
        const again = translateSegment(lane, INITIAL_LANE_STATE, segment, translateLangGraphFrame);
        expect(again).toEqual(once);
        expect(once.dispositions).toHaveLength(stored.length);
        const operations = once.operations.map((operation) => JSON.stringify(operation)).join('\n');
        expect(operations).not.toMatch(/left out|frame not translated/);
      }),
      { numRuns: 200 },
    );
  });
});

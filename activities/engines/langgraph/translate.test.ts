import { describe, expect, it } from 'vitest';
import {
  CHILD,
  bodiesOf,
  cancel,
  chunkOf,
  emitted,
  end,
  event,
  lc,
  piece,
  tool,
  update,
  whole,
} from './translate-testkit.ts';

describe('translating what an agent of LangGraph says', () => {
  it('says text in pieces, and not again when it is whole or when a node tells it again', () => {
    const bodies = bodiesOf(
      piece('m1', 'Hel'),
      piece('m1', [{ type: 'text', text: 'lo' }]),
      update('model_request', [whole('m1', 'Hello')]),
      update('Middleware.after_model', [whole('m1', 'Hello')]),
    );
    expect(bodies).toEqual([
      { kind: 'message.delta', messageId: 'run_1.0', text: 'Hel' },
      { kind: 'message.delta', messageId: 'run_1.0', text: 'lo' },
      { kind: 'message.completed', messageId: 'run_1.0' },
    ]);
  });

  it.each([
    ['of a class', whole('m1', 'Hello')],
    ['in plain words', { type: 'ai', id: 'm1', content: 'Hello' }],
    ['by its role', { role: 'assistant', id: 'm1', content: [{ type: 'text', text: 'Hello' }] }],
  ])('says a message that came whole, %s', (_, message) => {
    expect(bodiesOf(update('model', [message]))).toEqual([
      { kind: 'message.delta', messageId: 'run_1.0', text: 'Hello' },
      { kind: 'message.completed', messageId: 'run_1.0' },
    ]);
  });

  it.each([
    ['blocks of reasoning', [{ type: 'reasoning', reasoning: 'hm' }], {}],
    ['blocks of thinking', [{ type: 'thinking', thinking: 'hm' }], {}],
    ['a field beside the text', '', { additional_kwargs: { reasoning_content: 'hm' } }],
  ])('says what a model thinks, in %s, and ends it where the text begins', (_, content, fields) => {
    expect(bodiesOf(piece('m1', content, fields), piece('m1', 'so'))).toEqual([
      { kind: 'reasoning.delta', messageId: 'run_1.0', text: 'hm' },
      { kind: 'reasoning.completed', messageId: 'run_1.0' },
      { kind: 'message.delta', messageId: 'run_1.1', text: 'so' },
    ]);
  });

  it('says neither what people said, nor a conversation told again, nor a summary', () => {
    const removal = lc('RemoveMessage', { id: '__remove_all__', content: '' });
    expect(
      emitted(
        chunkOf('messages', [lc('HumanMessage', { id: 'h', content: 'Hi' }), {}]),
        update('patchToolCalls.before_agent', [removal, whole('old', 'from another run')]),
        chunkOf('messages', [lc('AIMessageChunk', { id: 's', content: 'In short' }), { lc_source: 'summarization' }]),
      ),
    ).toEqual([
      'not the words of the agent',
      'what a node changed and its messages said',
      'a summary that the agent writes for itself',
    ]);
  });

  it('marks where a summary took the place of older messages', () => {
    const removal = lc('RemoveMessage', { id: '__remove_all__', content: '' });
    expect(
      bodiesOf(
        update('SummarizationMiddleware.before_model', [removal, whole('old', 'x')]),
        chunkOf('updates', { model_request: { _summarizationEvent: { cutoffIndex: 4 } } }),
      ),
    ).toMatchObject([
      { kind: 'context.marker', markerType: 'memory' },
      { kind: 'context.marker', markerType: 'memory' },
    ]);
  });

  it('tells of an answer that is not whole and of a call that cannot be read', () => {
    const cut = { response_metadata: { stop_reason: 'max_tokens' }, invalid_tool_calls: [{ name: 'read', args: '{' }] };
    const finish = event('messages', ['model:x'], { event: 'message-finish', run_id: 'r', reason: 'length' });
    expect(bodiesOf(update('model', [whole('m1', '', cut)]), finish)).toMatchObject([
      { kind: 'harness.warning', code: 'answer_cut_short' },
      { kind: 'harness.warning', code: 'invalid_tool_call' },
      { kind: 'harness.warning', code: 'answer_cut_short' },
    ]);
  });

  it('counts what all model calls of the run used, and what a sub-agent used apart', () => {
    const usage = (count: number) => ({
      usage_metadata: { input_tokens: count, output_tokens: 1, input_token_details: { cache_read: 2 } },
    });
    const bodies = bodiesOf(
      piece('m1', '', usage(10)),
      update('model', [whole('m1', '', usage(10))]),
      update('model', [whole('m2', '', usage(5))]),
      piece('m3', '', usage(7), [CHILD]),
    );
    expect(bodies).toEqual([
      { kind: 'usage.updated', inputTokens: 10, outputTokens: 1, cachedInputTokens: 2 },
      { kind: 'usage.updated', inputTokens: 15, outputTokens: 2, cachedInputTokens: 4 },
      { kind: 'child.started', childId: CHILD },
      {
        kind: 'child.updated',
        childId: CHILD,
        status: 'running',
        state: { usage: { inputTokens: 7, outputTokens: 1, cachedInputTokens: 2 } },
      },
    ]);
  });

  it.each([
    ['the stream throws', [{ type: 'throw', dir: 'recv', name: 'AbortError', message: 'aborted' }]],
    ['the stream only ends', [cancel, end]],
  ])('ends what is open of a run that is cancelled, where %s', (_, frames) => {
    const bodies = bodiesOf(tool('on_tool_start', 'c1', { name: 'task' }), piece('m1', 'Hi', {}, [CHILD]), ...frames);
    expect(bodies.slice(3)).toEqual([
      { kind: 'message.completed', messageId: 'run_1.0' },
      { kind: 'child.completed', childId: CHILD, status: 'error', result: 'cancelled' },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'error', error: 'cancelled', nativeStatus: 'cancelled' },
    ]);
  });

  it('says what the application writes as a remark, or as the progress of the call that it names', () => {
    expect(
      bodiesOf(
        tool('on_tool_start', 'c1'),
        chunkOf('custom', { toolCallId: 'c1', done: 1 }),
        chunkOf('custom', 'half way'),
      ).slice(1),
    ).toMatchObject([
      { kind: 'tool.progress', toolCallId: 'c1', preview: '{"toolCallId":"c1","done":1}' },
      { kind: 'context.marker', detail: 'half way' },
    ]);
  });

  it('knows no frame that the library does not have, and tells of one that was cut', () => {
    const odd = [chunkOf('odd', {}), event('odd', [], {}), tool('on_odd', 'c1'), { type: 'odd', dir: 'send' }];
    expect(emitted(...odd)).toEqual([undefined, undefined, undefined, undefined]);
    expect(bodiesOf({ type: 'updates', _truncated: true })).toMatchObject([
      { kind: 'harness.warning', rawEventType: 'updates' },
    ]);
  });
});

import { fc } from '../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { INITIAL_LANE_STATE, translateSegment, type Emission } from '../../../contract/translation.ts';
import { translateLangGraphFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'langgraph' };
const CHILD = 'tools:one';

const input = (value: object): NativeFrame => ({ type: 'input', dir: 'send', input: value });
const cancel: NativeFrame = { type: 'cancel', dir: 'send' };
const end: NativeFrame = { type: 'end', dir: 'recv' };
const chunkOf = (type: string, chunk: unknown, namespace: string[] = []): NativeFrame => {
  return { type, dir: 'recv', namespace, chunk };
};
const lc = (name: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', name],
  kwargs,
});
const piece = (id: string, content: unknown, fields: object = {}, namespace: string[] = []): NativeFrame =>
  chunkOf('messages', [lc('AIMessageChunk', { id, content, ...fields }), {}], namespace);
const update = (node: string, messages: object[], namespace: string[] = []): NativeFrame =>
  chunkOf('updates', { [node]: { messages } }, namespace);
const whole = (id: string, content: string, fields: object = {}) => lc('AIMessage', { id, content, ...fields });
const result = (id: string, content: unknown, fields: object = {}) =>
  lc('ToolMessage', { tool_call_id: id, content, ...fields });
const tool = (event: string, toolCallId: string, fields: object = {}, namespace: string[] = []): NativeFrame =>
  chunkOf('tools', { event, toolCallId, name: 'read', ...fields }, namespace);
const event = (method: string, namespace: string[], data: unknown): NativeFrame => {
  return { type: 'event', dir: 'recv', method, seq: 1, params: { namespace, data } };
};

/** What the translator says of each frame; its state is stored between them. */
function emitted(...frames: NativeFrame[]): (readonly Emission[] | string | undefined)[] {
  let state: unknown;
  return frames.map((frame) => {
    const translation = translateLangGraphFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state)) as unknown;
    const { said } = translation;
    return said === undefined || 'suppressed' in said ? said?.suppressed : said;
  });
}

const emissionsOf = (...frames: NativeFrame[]): Emission[] =>
  emitted(...frames).flatMap((answer) => (Array.isArray(answer) ? (answer as readonly Emission[]) : []));
const bodiesOf = (...frames: NativeFrame[]): CanonicalBody[] => emissionsOf(...frames).map(({ body }) => body);

describe('translating an agent of LangGraph', () => {
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

  it('says a call with its input, and once, however many frames tell of it', () => {
    const bodies = bodiesOf(
      update('model', [whole('m1', '', { tool_calls: [{ id: 'c1', name: 'read', args: { path: 'a' } }] })]),
      tool('on_tool_start', 'c1', { input: '{"path":"a"}' }),
      tool('on_tool_event', 'c1', { data: 'half' }),
      tool('on_tool_end', 'c1', { output: result('c1', [{ type: 'text', text: 'content' }], { status: 'success' }) }),
      chunkOf('messages', [result('c1', 'content'), {}]),
      update('tools', [result('c1', 'content')]),
      tool('on_tool_end', 'c1', { output: 'again' }),
    );
    expect(bodies).toEqual([
      { kind: 'tool.started', toolCallId: 'c1', name: 'read', input: { path: 'a' } },
      { kind: 'tool.progress', toolCallId: 'c1', preview: 'half' },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'content' },
    ]);
  });

  it.each([
    ['an error is thrown', tool('on_tool_error', 'c1', { error: { message: 'no such file' } }), 'no such file'],
    ['its message says so', tool('on_tool_end', 'c1', { output: result('c1', 'no', { status: 'error' }) }), 'no'],
    ['its words say so', tool('on_tool_end', 'c1', { output: result('c1', 'Error: exists') }), 'Error: exists'],
    ['a person refused it', update('Hitl.after_model', [result('c1', 'Not this', { status: 'error' })]), 'Not this'],
  ])('says that a call failed where %s', (_, frame, error) => {
    const bodies = bodiesOf(tool('on_tool_start', 'c1'), frame);
    expect(bodies[1]).toMatchObject({ kind: 'tool.completed', toolCallId: 'c1', status: 'error', error });
  });

  it('tells of an input that a person changed, and of what the call then did', () => {
    const calls = (path: string) => ({ tool_calls: [{ id: 'c1', name: 'write_file', args: { file_path: path } }] });
    const bodies = bodiesOf(
      update('model', [whole('m1', '', calls('a.txt'))]),
      chunkOf('updates', { __interrupt__: [{ id: 'i1', value: { actionRequests: [] } }] }),
      end,
      input({ resume: { decisions: [{ type: 'edit' }] } }),
      update('Hitl.after_model', [whole('m1', '', calls('b.txt'))]),
      tool('on_tool_start', 'c1', { name: 'write_file', input: '{"file_path":"b.txt"}' }),
      tool('on_tool_end', 'c1', { output: 'done' }),
    );
    expect(bodies).toEqual([
      { kind: 'tool.started', toolCallId: 'c1', name: 'write_file', input: { file_path: 'a.txt' } },
      { kind: 'tool.progress', toolCallId: 'c1', preview: '{"file_path":"b.txt"}' },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'done' },
      { kind: 'file.changed', path: 'b.txt', changeType: 'create' },
    ]);
  });

  it('takes an input that was cut on its way for no change', () => {
    const args = { file_path: 'a.txt', content: 'x'.repeat(3_000) };
    const bodies = bodiesOf(
      update('model', [whole('m1', '', { tool_calls: [{ id: 'c1', name: 'write_file', args }] })]),
      tool('on_tool_start', 'c1', { input: '{"file_path":"a.txt","content":"xxx...[2997 chars]' }),
    );
    expect(bodies).toHaveLength(1);
  });

  it('says the plan of a tool that keeps one and changes the state of the graph', () => {
    const todos = [{ content: 'Look', status: 'in_progress' }];
    const bodies = bodiesOf(
      update('model', [whole('m1', '', { tool_calls: [{ id: 'c1', name: 'write_todos', args: { todos } }] })]),
      chunkOf('updates', { tools: [{ todos, messages: [result('c1', 'Updated')] }] }),
    );
    expect(bodies.at(-1)).toEqual({
      kind: 'plan.updated',
      entries: [{ id: '0-Look', text: 'Look', status: 'in_progress' }],
    });
  });

  it('leaves the platform to ask, and lets a call wait for the answer', () => {
    const interrupt = chunkOf('updates', { __interrupt__: [{ id: 'i1', value: { question: 'Which?' } }] });
    const answers = emitted(tool('on_tool_start', 'c1'), interrupt, end, input({ resume: 'Blue' }));
    expect(answers.slice(1)).toEqual([
      'the platform asks',
      'the platform says that the turn ended',
      'the platform says what is asked and what is answered',
    ]);
  });

  it('keeps what a sub-agent says apart, and ends it with the call that it works for', () => {
    const task = { description: 'look around', subagent_type: 'explorer' };
    const emissions = emissionsOf(
      tool('on_tool_start', 'c1', { name: 'task', input: JSON.stringify(task) }),
      chunkOf('updates', { 'Middleware.before_agent': {} }, [CHILD]),
      piece('m1', 'Found', {}, [CHILD]),
      tool('on_tool_start', 'c2', {}, [CHILD]),
      tool('on_tool_end', 'c1', { name: 'task', output: { update: { messages: [result('c1', 'Found it')] } } }),
    );
    const native = { nativeSessionId: CHILD, nativeParentSessionId: 'run_1' };
    expect(emissions.slice(1)).toEqual([
      {
        body: {
          kind: 'child.started',
          childId: CHILD,
          launchToolCallId: 'c1',
          title: 'explorer',
          state: { prompt: 'look around', role: 'explorer' },
        },
        native,
      },
      { body: { kind: 'message.delta', messageId: 'run_1.0', text: 'Found' }, native },
      { body: { kind: 'tool.started', toolCallId: 'c2', name: 'read' }, native },
      { body: { kind: 'child.updated', childId: CHILD, status: 'running', state: { lastToolName: 'read' } }, native },
      { body: { kind: 'child.completed', childId: CHILD, status: 'ok', result: 'Found it' }, native },
      { body: { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'Found it' } },
    ]);
  });

  it('claims no call for a sub-agent where two are possible, and ends it where the result comes from its place', () => {
    const emissions = bodiesOf(
      tool('on_tool_start', 'c1', { name: 'task' }),
      tool('on_tool_start', 'c2', { name: 'task' }),
      piece('m1', 'Found', {}, [CHILD]),
      chunkOf('messages', [result('c2', 'Found it'), { langgraph_checkpoint_ns: CHILD }]),
    );
    expect(emissions[2]).toEqual({ kind: 'child.started', childId: CHILD });
    expect(emissions.slice(4)).toEqual([
      { kind: 'child.completed', childId: CHILD, status: 'ok', result: 'Found it' },
      { kind: 'tool.completed', toolCallId: 'c2', status: 'ok', preview: 'Found it' },
    ]);
  });

  it('shows a model that works inside of a call as its sub-agent', () => {
    const inside = { langgraph_checkpoint_ns: CHILD, langgraph_node: 'tools' };
    const bodies = bodiesOf(
      tool('on_tool_start', 'c1', { name: 'summarize' }),
      chunkOf('messages', [lc('AIMessageChunk', { id: 'm1', content: 'In short' }), inside]),
      tool('on_tool_end', 'c1', { output: 'In short' }),
    );
    expect(bodies.map(({ kind }) => kind)).toEqual([
      'tool.started',
      'child.started',
      'message.delta',
      'child.completed',
      'tool.completed',
    ]);
    const told = event('messages', [CHILD], { event: 'content-block-delta', delta: { type: 'text-delta', text: 'x' } });
    expect(bodiesOf(told)[0]).toEqual({ kind: 'child.started', childId: CHILD });
  });

  it('does not end a sub-agent with the result of another call in its place', () => {
    const bodies = bodiesOf(
      tool('on_tool_start', 'c1', { name: 'task' }),
      tool('on_tool_start', 'c2'),
      piece('m1', 'Found', {}, [CHILD]),
      chunkOf('messages', [result('c2', 'a file'), { langgraph_checkpoint_ns: CHILD }]),
      chunkOf('messages', [result('c1', 'Found it'), { langgraph_checkpoint_ns: CHILD }]),
    );
    expect(bodies.slice(4)).toMatchObject([
      { kind: 'tool.completed', toolCallId: 'c2' },
      { kind: 'child.completed', childId: CHILD, result: 'Found it' },
      { kind: 'tool.completed', toolCallId: 'c1' },
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

  it('says a sub-agent of a sub-agent as that one’s', () => {
    const [first, second] = bodiesOf(piece('m1', 'deep', {}, [CHILD, 'tools:two']));
    expect(first).toEqual({ kind: 'child.started', childId: CHILD });
    expect(second).toEqual({ kind: 'child.started', childId: 'tools:two', parentChildId: CHILD });
  });

  it('begins anew what goes on in another step: the platform has ended it while the run was parked', () => {
    const lane = { runId: 'run_1', threadId: 'thr_1' };
    const step = (stepIndex: number, ...frames: NativeFrame[]) => {
      const stamped = frames.map((frame) => ({ at: 1, frame }));
      return { firstSeq: 0, provider: 'langgraph', stepIndex, attempt: 1, frames: stamped };
    };
    const platform = (frame: NativeFrame) => ({ ...step(0, frame), provider: 'tidemark' });
    const asked = step(
      0,
      tool('on_tool_start', 'c1', { name: 'task' }),
      piece('m1', 'Which?', {}, [CHILD]),
      chunkOf('updates', { __interrupt__: [{ id: 'i1', value: 'Which?' }] }),
      end,
    );
    const gone = step(
      1,
      input({ resume: 'Blue' }),
      piece('m2', 'Blue, then', {}, [CHILD]),
      tool('on_tool_end', 'c1', { name: 'task', output: 'done' }),
    );
    let state = INITIAL_LANE_STATE;
    const said = [asked, platform({ type: 'step.ended', step: 0, status: 'parked' }), gone].map((segment) => {
      const translated = translateSegment(lane, state, segment, translateLangGraphFrame);
      ({ state } = translated);
      return translated.operations.flatMap((operation) => (operation.op === 'emit' ? [operation.event] : []));
    });
    expect(said[1]?.map(({ kind }) => kind)).toEqual(['tool.completed', 'child.completed']);
    expect(said[2]).toMatchObject([
      { kind: 'child.started', childId: CHILD },
      { kind: 'message.started' },
      { kind: 'message.delta', text: 'Blue, then' },
      { kind: 'child.completed', result: 'done' },
      { kind: 'tool.started', toolCallId: 'c1.1', name: 'task' },
      { kind: 'tool.completed', toolCallId: 'c1.1', status: 'ok' },
    ]);
  });

  it('lets a graph that is a node of its own graph speak for the run', () => {
    expect(emissionsOf(piece('m1', 'Hi', {}, ['researcher:one']))).toEqual([
      { body: { kind: 'message.delta', messageId: 'run_1.0', text: 'Hi' } },
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

  it('says the blocks of the protocol once, also one that had no piece', () => {
    const node = ['model:x'];
    const message = (data: object) => event('messages', node, { run_id: 'r', ...data });
    const bodies = bodiesOf(
      message({ event: 'message-start', id: 'm1' }),
      message({ event: 'content-block-start', index: 0, content: { type: 'reasoning', reasoning: '' } }),
      message({ event: 'content-block-delta', index: 0, delta: { type: 'reasoning-delta', reasoning: 'hm' } }),
      message({ event: 'content-block-finish', index: 0, content: { type: 'reasoning', reasoning: 'hm' } }),
      message({ event: 'content-block-finish', index: 1, content: { type: 'text', text: 'Hello' } }),
      message({ event: 'message-finish', usage: { input_tokens: 3 } }),
      event('updates', [], { node: 'model', values: { messages: [whole('m1', 'Hello')] } }),
      message({ event: 'error', message: 'Overloaded' }),
    );
    expect(bodies).toEqual([
      { kind: 'reasoning.delta', messageId: 'run_1.0', text: 'hm' },
      { kind: 'reasoning.completed', messageId: 'run_1.0' },
      { kind: 'message.delta', messageId: 'run_1.1', text: 'Hello' },
      { kind: 'message.completed', messageId: 'run_1.1' },
      { kind: 'usage.updated', inputTokens: 3 },
      { kind: 'harness.error', message: 'Overloaded', fatal: false, code: 'model_error' },
    ]);
  });

  it('knows by the protocol which call a sub-agent works for, and when it failed', () => {
    const started = { event: 'tool-started', tool_name: 'task' };
    const bodies = bodiesOf(
      event('tools', [CHILD], { ...started, tool_call_id: 'c1' }),
      event('tools', ['tools:two'], { ...started, tool_call_id: 'c2' }),
      event('messages', ['tools:two', 'model:x'], {
        event: 'content-block-delta',
        run_id: 'r',
        delta: { type: 'text-delta', text: 'Hi' },
      }),
      event('lifecycle', ['tools:two'], { event: 'failed', error: 'no model' }),
    );
    expect(bodies[2]).toMatchObject({ kind: 'child.started', childId: 'tools:two', launchToolCallId: 'c2' });
    expect(bodies.at(-1)).toEqual({
      kind: 'child.completed',
      childId: 'tools:two',
      status: 'error',
      result: 'no model',
    });
  });

  it('says a call under the id of one that ended as another call', () => {
    const calls = { tool_calls: [{ id: 'c', name: 'read', args: {} }] };
    const bodies = bodiesOf(
      update('model', [whole('m1', '', calls)]),
      update('tools', [result('c', 'a')]),
      update('model', [whole('m2', '', calls)]),
      update('tools', [result('c', 'b')]),
    );
    expect(bodies).toMatchObject([
      { kind: 'tool.started', toolCallId: 'c' },
      { kind: 'tool.completed', toolCallId: 'c', preview: 'a' },
      { kind: 'tool.started', toolCallId: 'c.1' },
      { kind: 'tool.completed', toolCallId: 'c.1', preview: 'b' },
    ]);
  });

  it('knows no frame that the library does not have, and tells of one that was cut', () => {
    const odd = [chunkOf('odd', {}), event('odd', [], {}), tool('on_odd', 'c1'), { type: 'odd', dir: 'send' }];
    expect(emitted(...odd)).toEqual([undefined, undefined, undefined, undefined]);
    expect(bodiesOf({ type: 'updates', _truncated: true })).toMatchObject([
      { kind: 'harness.warning', rawEventType: 'updates' },
    ]);
  });

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

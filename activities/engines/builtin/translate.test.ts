import { fc } from '../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { CanonicalEvent } from '../../../contract/canonical.ts';
import { BUS_EVENT_NAMES } from '../../../contract/extensions/bus-event.ts';
import type { FrameSegment, NativeFrame } from '../../../contract/frames.ts';
import { stepsOf } from '../../../contract/sub-agent.ts';
import { INITIAL_LANE_STATE, translateSegment, type FrameContext } from '../../../contract/translation.ts';
import type { Message, ToolResultMessage } from '../../../contract/agent-messages.ts';
import { WITHOUT_MEANING } from './bus-events.ts';
import {
  BuiltinFrame,
  framesOf,
  llmEnd,
  llmStart,
  subAgentEnd,
  subAgentStart,
  toolCallBegins,
  toolResult,
} from './frames.ts';
import type { ProviderEvent } from './providers/provider.ts';
import { createScripted } from './providers/scripted.ts';
import { translateBuiltinFrame } from './translate.ts';

const LANE = { runId: 'run_1', threadId: 'thr_1' };
const CONTEXT = { runId: 'run_1', stepIndex: 3, attempt: 1, provider: 'builtin' };

/** What Tidemark's lanes hold beside them. */
const ADDED_EVENTS = ['sub-agent-end', 'sub-agent-start', 'tool-output'];

const translated = (frame: NativeFrame, context: FrameContext = CONTEXT) =>
  translateBuiltinFrame(frame, context, undefined).said;

const bodies = (frame: NativeFrame) => {
  const answer = translated(frame);
  return Array.isArray(answer) ? answer.map(({ body }: { body: unknown }) => body) : answer;
};

describe('a frame of the built-in engine', () => {
  it.each([...BUS_EVENT_NAMES, ...ADDED_EVENTS])('%s has an answer even when it is empty', (type) => {
    expect(translated({ type })).toBeDefined();
  });

  it.each(['nonsense', '', '__proto__', 'constructor', 'step.started'])('%j is no event of the bus', (type) => {
    expect(translated({ type })).toBeUndefined();
  });

  it('that was cut or is malformed is a warning, never silence', () => {
    expect(bodies({ type: 'text-delta', _truncated: true })).toEqual([
      { kind: 'harness.warning', message: 'a frame was over the limit and was cut', rawEventType: 'text-delta' },
    ]);
    expect(bodies({ type: 'tool-call', toolCall: 7 })).toMatchObject([
      { kind: 'harness.warning', message: 'a frame is malformed' },
    ]);
  });

  it('names its message by run, step and position', () => {
    expect(bodies({ type: 'text-delta', contentIndex: 1, delta: 'hi' })).toEqual([
      { kind: 'message.delta', messageId: 'run_1.3.1', text: 'hi' },
    ]);
    expect(translated({ type: 'text-start', contentIndex: 0 }, { ...CONTEXT, stepIndex: null })).toEqual([
      { body: { kind: 'message.started', messageId: 'run_1.run.0' } },
    ]);
  });

  it('counts all of the prompt as input and the cached part beside it', () => {
    const usage = { input: 12, output: 5, cacheRead: 8, totalTokens: 25 };
    expect(bodies({ type: 'llm-end', stopReason: 'stop', usage })).toEqual([
      { kind: 'usage.updated', inputTokens: 20, outputTokens: 5, cachedInputTokens: 8 },
    ]);
    const total = { ...usage, costUsd: 0.25 };
    expect(bodies({ type: 'llm-end', stopReason: 'stop', usage, total })).toMatchObject([{ costUsd: 0.25 }]);
    expect(bodies({ type: 'llm-end', stopReason: 'error', errorMessage: 'x' })).toEqual({
      suppressed: 'the loop decides what a failed call means',
    });
  });

  it('says what a tool prints as the output of a terminal that is named for its call', () => {
    expect(bodies({ type: 'tool-output', toolCallId: 'tc', chunk: 'line\n' })).toEqual([
      { kind: 'terminal.output', terminalId: 'tc', chunk: 'line\n' },
    ]);
    expect(bodies({ type: 'tool-output', toolCallId: 'tc', chunk: '' })).toEqual({ suppressed: 'an empty output' });
  });

  it('says the plan of a tool that keeps one, and what it kept, in the order in which they come to be', () => {
    const plan = [{ id: 'a', text: 'look', status: 'in_progress' }];
    const artifact = { artifactId: 'art_1', bytes: 3, sha256: 'a'.repeat(64), contentType: 'text/csv' };
    const frame = { type: 'tool-result', toolCallId: 'tc', toolName: 't', isError: false, preview: 'p' };
    expect(bodies({ ...frame, plan, saved: { artifact, name: 'r.csv' } })).toEqual([
      { kind: 'artifact.created', artifact, name: 'r.csv' },
      { kind: 'tool.completed', toolCallId: 'tc', status: 'ok', preview: 'p' },
      { kind: 'plan.updated', entries: plan },
    ]);
    expect(bodies({ ...frame, isError: true, plan })).toMatchObject([{ kind: 'tool.completed', status: 'error' }]);
  });

  it('says that a tool failed, and no file change then', () => {
    const fileChange = { path: 'a', changeType: 'create' };
    const frame = {
      type: 'tool-result',
      toolCallId: 'tc',
      toolName: 'w',
      isError: true,
      preview: 'error: no',
      fileChange,
    };
    expect(bodies(frame)).toEqual([{ kind: 'tool.completed', toolCallId: 'tc', status: 'error', error: 'error: no' }]);
  });
});

describe('a result whose text is kept elsewhere', () => {
  const artifact = { artifactId: 'art_1', bytes: 3_000, sha256: 'a'.repeat(64), contentType: 'text/plain' };
  const frame = { type: 'tool-result', toolCallId: 'tc', toolName: 'r', preview: 'p', durationMs: 1 };

  it.each([
    [false, { status: 'ok', preview: 'p' }],
    [true, { status: 'error', error: 'p' }],
  ])('says the artifact first, and refers to it (isError: %s)', (isError, said) => {
    expect(bodies({ ...frame, isError, output: { artifact, name: 'r-1.txt' } })).toEqual([
      { kind: 'artifact.created', artifact, name: 'r-1.txt' },
      { kind: 'tool.completed', toolCallId: 'tc', ...said, artifact, durationMs: 1 },
    ]);
  });
});

describe('a sub-agent', () => {
  const native = { nativeSessionId: 'run_1.c2', nativeParentSessionId: 'run_1' };
  const inside = { ...CONTEXT, stepIndex: stepsOf(2).first + 1 };
  const toolCall = { type: 'tool-call', id: 'tc', name: 'list_files', arguments: {} } as const;

  it('begins under the call that delegates, and ends with what its caller is told and what it used', () => {
    const began = { childId: 'run_1.c2', toolCallId: 'tc', task: 'look', model: 'openai/m', name: 'scout' };
    expect(translated(subAgentStart(began))).toEqual([
      {
        native,
        body: {
          kind: 'child.started',
          childId: 'run_1.c2',
          launchToolCallId: 'tc',
          title: 'scout',
          state: { status: 'running', prompt: 'look', model: 'openai/m' },
        },
      },
    ]);
    const result = { content: [{ type: 'text', text: 'seen' }], isError: false } as const;
    const said = translated(
      subAgentEnd('run_1.c2', { ...result, content: [...result.content] }, { input: 3, output: 1 }),
    );
    const usage = { inputTokens: 3, outputTokens: 1 };
    expect(said).toEqual([
      {
        native,
        body: { kind: 'child.completed', childId: 'run_1.c2', status: 'ok', result: 'seen', state: { usage } },
      },
    ]);
  });

  it('says whatever its steps say, and what it is at', () => {
    expect(translated({ type: 'text-delta', contentIndex: 0, delta: 'hi' }, inside)).toEqual([
      { native, body: { kind: 'message.delta', messageId: 'run_1.1020001.0', text: 'hi' } },
    ]);
    expect(translated({ type: 'error', error: 'no' }, inside)).toMatchObject([{ native }]);
    expect(translated(toolCallBegins(toolCall), inside)).toMatchObject([
      { native, body: { kind: 'tool.started' } },
      { native, body: { kind: 'tool.progress' } },
      { native, body: { kind: 'child.updated', childId: 'run_1.c2', state: { lastToolName: 'list_files' } } },
    ]);
    expect(translated(toolCallBegins(toolCall))).toHaveLength(2);
  });
});

const contentIndex = fc.nat({ max: 3 });
const toolCallId = fc.constantFrom('tc_0', 'tc_1');
const prose = fc.constantFrom('text', 'thinking');
const toolCall = toolCallId.map((id) => ({ id, name: 'write_file', arguments: { path: id } }));
const frame: fc.Arbitrary<NativeFrame> = fc.oneof(
  fc.record({ type: prose.map((kind) => `${kind}-start`), contentIndex }),
  fc.record({
    type: prose.map((kind) => `${kind}-delta`),
    contentIndex,
    delta: fc.string({ unit: 'binary', maxLength: 4 }),
  }),
  fc.record({ type: prose.map((kind) => `${kind}-end`), contentIndex }),
  fc.record({ type: fc.constantFrom('tool-call-end', 'tool-call'), contentIndex, toolCall }),
  fc.record({ type: fc.constant('tool-output'), toolCallId, chunk: fc.string({ unit: 'binary', maxLength: 4 }) }),
  fc.record({
    type: fc.constant('tool-result'),
    toolCallId,
    toolName: fc.constant('write_file'),
    isError: fc.boolean(),
    preview: fc.string(),
    plan: fc.option(fc.constant([{ id: 'a', text: 'look', status: 'pending' }]), { nil: undefined }),
    fileChange: fc.option(fc.constant({ path: 'a', changeType: 'edit' }), { nil: undefined }),
    output: fc.option(
      fc.constant({
        artifact: { artifactId: 'a', bytes: 1, sha256: 'b'.repeat(64), contentType: 'text/plain' },
        name: 'a.txt',
      }),
      { nil: undefined },
    ),
  }),
  fc.record({ type: fc.constant('llm-end'), stopReason: fc.constant('stop'), usage: fc.record({ input: fc.nat() }) }),
  fc.constantFrom(...BUS_EVENT_NAMES).map((type) => ({ type })),
  fc.record({ type: fc.string(), rest: fc.jsonValue() }),
);

const segment = (frames: readonly NativeFrame[], firstSeq = 1, stepIndex = 3): FrameSegment => ({
  firstSeq,
  provider: 'builtin',
  stepIndex,
  attempt: 1,
  frames: frames.map((said, n) => ({ at: 1_000 + firstSeq + n, frame: said })),
});

describe('any sequence of frames', () => {
  it('is translated alike each time, each frame accounted for, each event one of the grammar', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 40 }), (frames) => {
        const translate = () => translateSegment(LANE, INITIAL_LANE_STATE, segment(frames), translateBuiltinFrame);
        const first = translate();
        expect(translate()).toEqual(first);
        expect(first.dispositions.map(({ frameSeq }) => frameSeq)).toEqual(frames.map((_, n) => n + 1));
        for (const { kinds, suppressed } of first.dispositions)
          expect(kinds.length > 0 || suppressed !== undefined).toBe(true);
        const events = first.operations.flatMap((operation) => (operation.op === 'emit' ? [operation.event] : []));
        for (const event of events) {
          expect(CanonicalEvent.safeParse({ ...event, seq: 0 }).success).toBe(true);
          expect(JSON.stringify(event)).not.toMatch(/ left out: |frame not translated/);
        }
        expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
      }),
    );
  });
});

describe('the bus events', () => {
  it('are those of the contract, each known to one list', () => {
    const spoken = BuiltinFrame.options.map((option) => option.shape.type.value);
    const known = new Set<string>([
      ...WITHOUT_MEANING.keys(),
      ...spoken,
      'compaction-summary',
      'error',
      'extension-error',
    ]);
    expect([...known].toSorted()).toEqual([...BUS_EVENT_NAMES, ...ADDED_EVENTS].toSorted());
  });
});

describe('one step', () => {
  it('from the model’s call to its tool’s result reads as its golden file says', async () => {
    const events: ProviderEvent[] = [];
    const input: Message = { role: 'user', content: 'write it down 🌍', timestamp: 1 };
    const options = { signal: new AbortController().signal, stallMs: 5_000, toolCallId: () => 'run_1.3.tc_0' };
    const context = { messages: [input], tools: [], maxTokens: 100 };
    const message = await createScripted({ pace: 0 }).complete(
      'approval',
      context,
      options,
      (event) => void events.push(event),
    );
    const model = [llmStart('scripted', 'approval'), ...events.flatMap(framesOf), llmEnd(message)];
    const [asked] = message.content.filter((block) => block.type === 'tool-call');
    const result: ToolResultMessage = {
      role: 'tool-result',
      toolCallId: 'run_1.3.tc_0',
      toolName: 'write_file',
      content: [{ type: 'text', text: 'created note.txt (19 bytes)' }],
      isError: false,
      details: { path: 'note.txt', changeType: 'create', bytes: 19 },
      timestamp: 1,
    };
    const tool = [toolCallBegins(asked!), toolResult(result, { durationMs: 12 })];
    const first = translateSegment(LANE, INITIAL_LANE_STATE, segment(model), translateBuiltinFrame);
    const second = translateSegment(LANE, first.state, segment(tool, model.length + 1, 4), translateBuiltinFrame);
    const said = [...first.operations, ...second.operations].flatMap((at) => (at.op === 'emit' ? [at.event] : []));
    const lines = said.map((event) => JSON.stringify(event)).join('\n');
    await expect(`${lines}\n`).toMatchFileSnapshot('__golden__/step.jsonl');
    expect(lines).toContain('"kind":"file.changed"');
  });
});

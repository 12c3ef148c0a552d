import { fc } from '../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { CanonicalEvent } from '../../../contract/canonical.ts';
import { boundFrame } from '../../../contract/frames.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { inTurn, promptAnswer, said, textChunk, translated, update } from './acp-frames-testkit.ts';
import { METHODS } from './methods.ts';
import { SESSION_UPDATES } from './session-updates.ts';
import { translateAcpFrame } from './translate.ts';

const kinds = (frames: Parameters<typeof said>[0]) => said(frames).map(({ kind }) => kind);
const last = (frames: Parameters<typeof translated>[0]) => translated(frames).at(-1);

describe('a text of an ACP agent', () => {
  it('goes on under its id, and ends when something else begins', () => {
    const frames = inTurn(textChunk('one', 'm1'), textChunk(' two', 'm1'), textChunk('three', 'm2'));
    expect(said(frames).slice(1)).toEqual([
      { kind: 'message.delta', messageId: 'm1', text: 'one' },
      { kind: 'message.delta', messageId: 'm1', text: ' two' },
      { kind: 'message.completed', messageId: 'm1' },
      { kind: 'message.delta', messageId: 'm2', text: 'three' },
    ]);
  });

  it('that restates what was said under the same id is a new message, with a warning', () => {
    const begun = [textChunk('Sentence number 1 of', 'm1'), textChunk(' a long answer', 'm1')];
    const events = said(inTurn(...begun, ...begun, textChunk(' that ends.', 'm1'))).slice(1);
    expect(events).toMatchObject([
      { messageId: 'm1', text: 'Sentence number 1 of' },
      { messageId: 'm1', text: ' a long answer' },
      { kind: 'message.completed', messageId: 'm1' },
      { kind: 'harness.warning', code: 'message_restarted' },
      { messageId: 'm1~2', text: 'Sentence number 1 of a long answer' },
      { messageId: 'm1~2', text: ' that ends.' },
    ]);
  });

  it('that only begins alike is held back for a moment and then appended', () => {
    const frames = inTurn(textChunk('the cat and ', 'm1'), textChunk('the', 'm1'), textChunk(' dog', 'm1'));
    expect(last(frames.slice(0, -1))).toHaveProperty('suppressed');
    expect(said(frames).at(-1)).toEqual({ kind: 'message.delta', messageId: 'm1', text: 'the dog' });
  });

  it('that comes after the turn has ended is never said', () => {
    const frames = inTurn(promptAnswer({ stopReason: 'end_turn' }), textChunk('late', 'm9'));
    expect(last(frames)).toEqual({ suppressed: 'text outside of the turn' });
  });

  it('of an earlier turn is not said again while a session is loaded', () => {
    const load = {
      type: 'session/load',
      dir: 'send',
      id: 1,
      params: { sessionId: 'ses_1', cwd: '/workspace' },
    } as const;
    expect(last([load, textChunk('old', 'm0')])).toEqual({ suppressed: 'replay of an earlier turn' });
  });

  it('that stands for an error of codex is not the message of the assistant', () => {
    const failing = update('session_info_update', { _meta: { codex: { threadStatus: { type: 'systemError' } } } });
    expect(kinds(inTurn(failing, textChunk('overloaded')))).not.toContain('message.delta');
  });
});

describe('a tool of an ACP agent', () => {
  const ask = {
    type: 'session/request_permission',
    dir: 'recv',
    id: 0,
    params: { toolCall: { toolCallId: 'write_file__1', title: 'Writing', kind: 'edit' }, options: [] },
  } as const;

  it('is started by the request for a permission when nothing was heard of it', () => {
    expect(said(inTurn(ask)).slice(1)).toEqual([
      { kind: 'tool.started', toolCallId: 'write_file__1', name: 'write_file', title: 'Writing' },
    ]);
  });

  it('whose input is written piece by piece is said when that is whole', () => {
    const call = update('tool_call', { toolCallId: 't1', name: 'Bash', status: 'pending', rawInput: {} });
    const patch = (rawInput: object) => update('tool_call_update', { toolCallId: 't1', rawInput });
    const frames = inTurn(call, patch({ command: 'ls' }), patch({ command: 'ls', description: 'List' }));
    expect(kinds(frames)).not.toContain('tool.started');
    expect(said([...frames, textChunk('on')])).toContainEqual({
      kind: 'tool.started',
      toolCallId: 't1',
      name: 'Bash',
      input: { command: 'ls', description: 'List' },
    });
  });

  it('changes each file once, though it was written through us as well', () => {
    const diff = { type: 'diff', path: '/workspace/a.txt', oldText: null, newText: 'x' };
    const call = update('tool_call', { toolCallId: 't1', kind: 'edit', status: 'in_progress', content: [diff] });
    const write = {
      type: 'fs/write_text_file',
      dir: 'recv',
      id: 9,
      params: { path: '/workspace/a.txt', content: 'x' },
    } as const;
    const wrote = { type: 'fs/write_text_file:result', dir: 'send', id: 9, result: null } as const;
    const done = update('tool_call_update', {
      toolCallId: 't1',
      status: 'completed',
      content: [{ ...diff, path: 'a.txt' }],
    });
    const changes = said(inTurn(call, write, wrote, done)).filter(({ kind }) => kind === 'file.changed');
    expect(changes).toEqual([{ kind: 'file.changed', path: 'a.txt', changeType: 'create' }]);
  });

  it('refers to what the driver kept out of the log', () => {
    const artifact = { artifactId: 'art_1', bytes: 3, sha256: 'a'.repeat(64), contentType: 'text/x-diff' };
    const kept = {
      diffs: [{ path: 'a.txt', changeType: 'edit', diff: { artifact, name: 'a.txt.diff' } }],
      output: { artifact, name: 'output.txt' },
    };
    const call = update('tool_call', { toolCallId: 't1', kind: 'edit', status: 'in_progress' });
    const done = update('tool_call_update', { toolCallId: 't1', status: 'completed' });
    expect(said(inTurn(call, { ...done, kept })).slice(2)).toEqual([
      { kind: 'artifact.created', artifact, name: 'output.txt' },
      { kind: 'tool.completed', toolCallId: 't1', status: 'ok', artifact },
      { kind: 'file.changed', path: 'a.txt', changeType: 'edit', diff: artifact },
    ]);
  });
});

describe('a session of an ACP agent', () => {
  it('names its commands once each and none without a name', () => {
    const availableCommands = [
      { name: 'a', input: { hint: 'x' } },
      { name: 'a' },
      { description: 'none' },
      { name: 'b', input: 'y' },
    ];
    expect(said(inTurn(update('available_commands_update', { availableCommands }))).at(-1)).toEqual({
      kind: 'commands.updated',
      commands: ['a', 'b'],
      catalog: [
        { name: 'a', input: 'x' },
        { name: 'b', input: 'y' },
      ],
    });
  });

  it('tells its mode when that changes, and only then', () => {
    const mode = update('current_mode_update', { currentModeId: 'plan' });
    expect(said(inTurn(mode, mode)).filter(({ kind }) => kind === 'mode.updated')).toEqual([
      { kind: 'mode.updated', mode: 'plan' },
    ]);
  });

  it.each([
    [{ usage: { inputTokens: 10, outputTokens: 2, cachedReadTokens: 90, totalTokens: 102 } }, 100],
    [{ usage: { inputTokens: 100, outputTokens: 2, cachedReadTokens: 90, totalTokens: 102 } }, 100],
    [{ _meta: { quota: { token_count: { input_tokens: 100, output_tokens: 2 } } } }, 100],
  ])('counts the whole prompt in %j', (result, inputTokens) => {
    expect(said(inTurn(promptAnswer(result))).at(-1)).toMatchObject({
      kind: 'usage.updated',
      inputTokens,
      outputTokens: 2,
    });
  });

  it('tells of notices, compaction and children', () => {
    const child = (state: object) => update('subagent_update', { sessionId: 'ses_2', title: 'Scout', state });
    const frames = inTurn(
      update('notice', { severity: 'error', title: 'Quota' }),
      update('compaction_update', { compactionId: 'c1', status: 'completed' }),
      child({ state: 'running' }),
      update('agent_message_chunk', { messageId: 'm1', content: { type: 'text', text: 'hi' } }, 'ses_2'),
      child({ state: 'idle', stopReason: 'end_turn' }),
    );
    expect(kinds(frames).slice(1)).toEqual([
      'harness.error',
      'context.marker',
      'child.started',
      'child.updated',
      'message.delta',
      'message.completed',
      'child.completed',
    ]);
  });
});

describe('any frame', () => {
  it('that was cut or is malformed is a warning, and an unknown method is left to the caller', () => {
    expect(said([boundFrame(textChunk('x'.repeat(40_000)))])).toMatchObject([{ kind: 'harness.warning' }]);
    expect(said([update('tool_call', { toolCallId: 7 })])).toMatchObject([{ message: 'a frame is malformed' }]);
    expect(last([{ type: 'session/nonsense' }])).toBeUndefined();
  });

  const id = fc.constantFrom('t1', 't2', 'm1', 'ses_1', 'ses_2', '__proto__', 'constructor');
  const text = fc.oneof(fc.string({ maxLength: 8 }), fc.constant('the same words again and again'));
  const fields = fc.record(
    {
      toolCallId: id,
      messageId: fc.oneof(id, fc.constant(null)),
      sessionId: id,
      status: fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 'odd'),
      kind: fc.constantFrom('edit', 'execute', 'delete'),
      name: fc.constantFrom('Task', 'Bash', 'todowrite'),
      rawInput: fc.oneof(fc.constant({}), fc.jsonValue(), fc.record({ prompt: text, todos: fc.jsonValue() })),
      rawOutput: fc.jsonValue(),
      content: fc.oneof(
        fc.record({ type: fc.constant('text'), text }),
        fc.array(fc.record({ type: fc.constantFrom('diff', 'content'), path: text, newText: text }), { maxLength: 2 }),
        fc.jsonValue(),
      ),
      entries: fc.array(fc.record({ content: text, status: text }), { maxLength: 3 }),
      state: fc.record({ state: fc.constantFrom('running', 'idle') }),
      _meta: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const updates = fc
    .tuple(fc.constantFrom(...SESSION_UPDATES.keys(), 'odd'), fields, id)
    .map(([kind, values, session]) => update(kind, values, session));
  const messages = fc.record({
    type: fc.constantFrom(...METHODS.keys(), 'session/prompt:error', 'malformed'),
    dir: fc.constantFrom('recv' as const, 'send' as const),
    id: fc.integer({ min: 0, max: 3 }),
    params: fc.oneof(
      fields,
      fc.record({ toolCall: fields, cwd: fc.constant('/workspace'), path: text, terminalId: id }),
    ),
    result: fc.oneof(fc.jsonValue(), fc.record({ output: text })),
  });

  it('in any order has an answer, the same each time, and says only what the grammar allows', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: updates }, messages), { maxLength: 30 }), (some) => {
        const frames = inTurn(...some);
        expect(translated(frames)).toEqual(translated(frames));
        const segment = {
          firstSeq: 0,
          provider: 'acp:x',
          stepIndex: 0,
          attempt: 1,
          frames: frames.map((frame) => ({ at: 0, frame })),
        };
        const lane = { runId: 'run_1', threadId: 'thr_1' };
        const { operations, dispositions } = translateSegment(lane, INITIAL_LANE_STATE, segment, translateAcpFrame);
        expect(dispositions).toHaveLength(frames.length);
        for (const operation of operations) {
          if (operation.op !== 'emit') continue;
          const event = CanonicalEvent.parse({ ...operation.event, seq: 0 });
          expect(event).not.toMatchObject({ message: expect.stringMatching(/left out|not translated/) as string });
        }
      }),
      { numRuns: 300 },
    );
  });
});

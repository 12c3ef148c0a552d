import { fc } from '../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { translateCodexFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'codex' };
const recv = (type: string, params: object): NativeFrame => ({ type, dir: 'recv', params });
const scope = { threadId: 'own', turnId: 'turn' };
const BEGUN: NativeFrame[] = [
  { type: 'thread/start:result', dir: 'recv', id: 1, result: { thread: { id: 'own' }, model: 'scripted' } },
  recv('turn/started', { threadId: 'own', turn: { id: 'turn', status: 'inProgress' } }),
];
const ended = recv('turn/completed', { threadId: 'own', turn: { id: 'turn', status: 'completed' } });
const item = (event: 'started' | 'completed', fields: object, whose: object = scope): NativeFrame =>
  recv(`item/${event}`, { ...whose, item: fields });
const piece = (itemId: string, delta: string, whose: object = scope): NativeFrame =>
  recv('item/agentMessage/delta', { ...whose, itemId, delta });

/** What a translator says of each frame, after a turn began. */
function said(...frames: NativeFrame[]): (CanonicalBody[] | string | undefined)[] {
  let state: unknown;
  const answers = [...BEGUN, ...frames].map((frame) => {
    const translation = translateCodexFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state ?? null)) ?? state;
    const { said: answer } = translation;
    if (answer === undefined || 'suppressed' in answer) return answer?.suppressed;
    return answer.map(({ body }) => body);
  });
  return answers.slice(BEGUN.length);
}

describe('translating codex app-server', () => {
  it('says text in pieces, and not again when it is whole', () => {
    const answers = said(
      piece('m1', 'Hel'),
      piece('m1', 'lo'),
      item('completed', { type: 'agentMessage', id: 'm1', text: 'Hello' }),
    );
    expect(answers).toEqual([
      [{ kind: 'message.delta', messageId: 'm1', text: 'Hel' }],
      [{ kind: 'message.delta', messageId: 'm1', text: 'lo' }],
      [{ kind: 'message.completed', messageId: 'm1' }],
    ]);
  });

  it('says a message that came whole', () => {
    expect(said(item('completed', { type: 'agentMessage', id: 'm1', text: 'Hello' }))).toEqual([
      [
        { kind: 'message.delta', messageId: 'm1', text: 'Hello' },
        { kind: 'message.completed', messageId: 'm1' },
      ],
    ]);
  });

  it('never appends to shown text what the model says after a retry', () => {
    const error = recv('error', { ...scope, error: { message: 'Reconnecting... 1/1' }, willRetry: true });
    const answers = said(piece('m1', 'Hello wor'), error, piece('m1', 'Hello'));
    expect(answers[1]).toEqual([
      { kind: 'message.completed', messageId: 'm1' },
      { kind: 'harness.warning', message: 'Reconnecting... 1/1', rawEventType: 'error', code: 'model_retry' },
    ]);
    expect(answers[2]).toEqual([{ kind: 'message.delta', messageId: 'm1.retry-1', text: 'Hello' }]);
  });

  it('leaves the error that ends the turn to its settlement', () => {
    const error = recv('error', { ...scope, error: { message: 'no' }, willRetry: false });
    expect(said(error)).toEqual(['the turn ends with it']);
  });

  it('drops reasoning without text and shows a thought in one wording only', () => {
    const thought = { type: 'reasoning', id: 'r1', summary: [], content: [] };
    const summary = recv('item/reasoning/summaryTextDelta', {
      ...scope,
      itemId: 'r2',
      delta: 'I think',
      summaryIndex: 0,
    });
    const raw = recv('item/reasoning/textDelta', { ...scope, itemId: 'r2', delta: 'raw', contentIndex: 0 });
    expect(said(item('started', thought), item('completed', thought), summary, raw)).toEqual([
      'a text begins with its first piece',
      'an item without text',
      [{ kind: 'reasoning.delta', messageId: 'r2', text: 'I think' }],
      'the same thought in other words',
    ]);
  });

  it('says each file of a patch with the diff that was kept, and not again with the diff of the turn', () => {
    const artifact = { artifactId: 'art_1', bytes: 3, sha256: 'a'.repeat(64), contentType: 'text/x-diff' };
    const change = { path: '/w/hello.txt', kind: { type: 'update', move_path: null }, diff: '@@' };
    const done = item('completed', { type: 'fileChange', id: 'c1', changes: [change], status: 'completed' });
    const kept = { diffs: [{ path: 'hello.txt', changeType: 'edit', diff: { artifact, name: 'hello.txt.diff' } }] };
    const diff = recv('turn/diff/updated', { ...scope, diff: 'diff --git a/hello.txt b/hello.txt\nindex 1..2\n' });
    const other = recv('turn/diff/updated', {
      ...scope,
      diff: 'diff --git a/new.txt b/new.txt\nnew file mode 100644\n',
    });
    const [bodies, whole, more] = said({ ...done, kept }, diff, other);
    expect(bodies).toContainEqual({ kind: 'file.changed', path: 'hello.txt', changeType: 'edit', diff: artifact });
    expect(whole).toBe('its changes were said one by one');
    expect(more).toEqual([{ kind: 'file.changed', path: 'new.txt', changeType: 'create' }]);
  });

  it('says no change of a patch that was declined', () => {
    const change = { path: 'hello.txt', kind: { type: 'add' }, diff: '+x' };
    const [bodies] = said(item('completed', { type: 'fileChange', id: 'c1', changes: [change], status: 'declined' }));
    expect((bodies as CanonicalBody[]).map(({ kind }) => kind)).toEqual(['tool.started', 'tool.completed']);
    expect(bodies).toContainEqual(
      expect.objectContaining({ kind: 'tool.completed', status: 'error', error: 'declined' }),
    );
  });

  it('keeps what a sub-agent says apart, and ends it with its last message', () => {
    const child = { threadId: 'sub', turnId: 't2' };
    const started = item('completed', {
      type: 'collabAgentToolCall',
      id: 'call',
      tool: 'spawnAgent',
      status: 'completed',
      prompt: 'look',
      receiverThreadIds: ['sub'],
      agentsStates: { sub: { status: 'pendingInit', message: null } },
    });
    const answers = said(
      started,
      piece('m2', 'Found', child),
      item('completed', { type: 'agentMessage', id: 'm2', text: 'Found' }, child),
      recv('turn/completed', { threadId: 'sub', turn: { id: 't2', status: 'completed' } }),
    );
    expect(answers[0]?.[0]).toMatchObject({ kind: 'child.started', childId: 'sub', launchToolCallId: 'call' });
    expect(answers[3]).toEqual([
      { kind: 'child.completed', childId: 'sub', status: 'ok', result: 'Found', state: { status: 'completed' } },
    ]);
  });

  it('counts what this turn used, not what its thread had used before', () => {
    const usage = (inputTokens: number, last: number) =>
      recv('thread/tokenUsage/updated', {
        ...scope,
        tokenUsage: { total: { inputTokens, outputTokens: 10 }, last: { inputTokens: last, outputTokens: 5 } },
      });
    const [first, second] = said(usage(150, 50), usage(180, 30));
    expect(first).toMatchObject([{ inputTokens: 50, outputTokens: 5 }]);
    expect(second).toMatchObject([{ inputTokens: 80 }]);
  });

  it('says nothing of a turn after its end', () => {
    const late = recv('item/commandExecution/outputDelta', { ...scope, itemId: 'c1', delta: 'tick' });
    expect(said(ended, late)[1]).toBe('late: its turn has ended');
  });

  it('says a tool that is first heard of when it is to be approved', () => {
    const request = recv('item/commandExecution/requestApproval', { ...scope, itemId: 'c1', command: 'ls', cwd: '/w' });
    expect(said(request)[0]).toMatchObject([{ kind: 'tool.started', toolCallId: 'c1', name: 'shell', title: 'ls' }]);
  });

  it('replaces the plan, and warns of what the engine warns of', () => {
    const plan = [
      { step: 'Look', status: 'inProgress' },
      { step: '', status: 'pending' },
    ];
    expect(
      said(recv('turn/plan/updated', { ...scope, plan }), recv('warning', { threadId: null, message: 'slow' })),
    ).toEqual([
      [{ kind: 'plan.updated', entries: [{ id: '0-Look', text: 'Look', status: 'in_progress' }] }],
      [{ kind: 'harness.warning', message: 'slow', rawEventType: 'warning' }],
    ]);
  });

  it('marks a compaction, and names no type that it does not know', () => {
    const compaction = { type: 'contextCompaction', id: 'k1' };
    const [, marked, unknown] = said(item('started', compaction), item('completed', compaction), recv('new/thing', {}));
    expect(marked).toMatchObject([{ kind: 'context.marker', markerType: 'memory' }]);
    expect(unknown).toBeUndefined();
  });

  it('never throws, translates alike, and says only what the grammar has', () => {
    const types = [
      'item/started',
      'item/completed',
      'item/agentMessage/delta',
      'turn/completed',
      'turn/started',
      'error',
    ];
    const frame = fc.record({
      type: fc.constantFrom(...types, 'thread/tokenUsage/updated', 'turn/plan/updated', 'odd'),
      dir: fc.constant('recv'),
      params: fc.oneof(
        fc.anything({ maxDepth: 2 }),
        fc.record({
          threadId: fc.constantFrom('own', 'sub', ''),
          turnId: fc.constantFrom('turn', 't2'),
          itemId: fc.constantFrom('a', '__proto__', ''),
          delta: fc.string(),
          willRetry: fc.boolean(),
          error: fc.constant({ message: 'x' }),
          turn: fc.record({ id: fc.constantFrom('turn', 't2'), status: fc.string() }),
          item: fc.record({
            id: fc.constantFrom('a', '__proto__'),
            type: fc.constantFrom('agentMessage', 'reasoning', 'commandExecution', 'fileChange', 'constructor'),
            text: fc.string(),
            status: fc.string(),
          }),
        }),
      ),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
        const stored = JSON.parse(JSON.stringify([...BEGUN, ...frames])) as NativeFrame[];
        const stamped = stored.map((one) => ({ at: 1, frame: one }));
        const segment = { firstSeq: 0, provider: 'codex', stepIndex: 0, attempt: 1, frames: stamped };
        const lane = { runId: 'run_1', threadId: 'thr_1' };
        const once = translateSegment(lane, INITIAL_LANE_STATE, segment, translateCodexFrame);
        const again = translateSegment(lane, INITIAL_LANE_STATE, segment, translateCodexFrame);
        expect(again).toEqual(once);
        const messages = once.operations.map((operation) => JSON.stringify(operation)).join('\n');
        expect(messages).not.toMatch(/left out|frame not translated/);
      }),
      { numRuns: 200 },
    );
  });
});

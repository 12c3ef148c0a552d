import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { translateOpencodeFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'opencode' };
const recv = (type: string, params: object): NativeFrame => ({ type, dir: 'recv', params });
const BEGUN: NativeFrame[] = [
  { type: 'POST /session:result', dir: 'recv', id: 1, result: { id: 'ses_1', directory: '/w', version: '1.18.33' } },
];
const part = (fields: object, sessionID = 'ses_1'): NativeFrame =>
  recv('message.part.updated', { sessionID, part: { sessionID, messageID: 'msg_1', ...fields } });
const text = (fields: object, sessionID?: string): NativeFrame =>
  part({ id: 'prt_t', type: 'text', text: '', ...fields }, sessionID);
const piece = (delta: string, partID = 'prt_t', sessionID = 'ses_1'): NativeFrame =>
  recv('message.part.delta', { sessionID, messageID: 'msg_1', partID, field: 'text', delta });
const tool = (state: object, fields: object = {}): NativeFrame =>
  part({ id: 'prt_c', type: 'tool', tool: 'bash', callID: 'call_1', state, ...fields });
const status = (fields: object, sessionID = 'ses_1'): NativeFrame =>
  recv('session.status', { sessionID, status: fields });
const idle = (sessionID = 'ses_1'): NativeFrame => recv('session.idle', { sessionID });
const subSession = recv('session.created', {
  sessionID: 'ses_2',
  info: { id: 'ses_2', parentID: 'ses_1', title: 'Look around', agent: 'general' },
});

/** What a translator says of each frame, after a session was begun. */
function said(...frames: NativeFrame[]): (CanonicalBody[] | string | undefined)[] {
  let state: unknown;
  const answers = [...BEGUN, ...frames].map((frame) => {
    const translation = translateOpencodeFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state));
    const { said: answer } = translation;
    if (answer === undefined || 'suppressed' in answer) return answer?.suppressed;
    return answer.map(({ body }) => body);
  });
  return answers.slice(BEGUN.length);
}

const bodiesOf = (answers: ReturnType<typeof said>): CanonicalBody[] =>
  answers.flatMap((answer) => (Array.isArray(answer) ? answer : []));

describe('translating the server of OpenCode', () => {
  it('says a text in pieces, and not again when it is whole', () => {
    expect(said(text({}), piece('Hel'), piece('lo'), text({ text: 'Hello', time: { end: 2 } }))).toEqual([
      'a text begins with its first piece',
      [{ kind: 'message.delta', messageId: 'prt_t', text: 'Hel' }],
      [{ kind: 'message.delta', messageId: 'prt_t', text: 'lo' }],
      [{ kind: 'message.completed', messageId: 'prt_t' }],
    ]);
  });

  it('says a text that came whole', () => {
    expect(said(text({ text: 'Hello', time: { end: 2 } }))).toEqual([
      [
        { kind: 'message.delta', messageId: 'prt_t', text: 'Hello' },
        { kind: 'message.completed', messageId: 'prt_t' },
      ],
    ]);
  });

  it('closes what a failed call of the model has said, warns, and never appends to it', () => {
    const retry = status({ type: 'retry', attempt: 1, message: 'Overloaded, url: http://127.0.0.1:9/v1', next: 5 });
    const end = text({ text: 'Half', time: { end: 2 } });
    expect(said(text({}), piece('Half'), retry, piece(' more'), end).slice(2)).toEqual([
      [
        { kind: 'message.completed', messageId: 'prt_t' },
        { kind: 'harness.warning', message: 'Overloaded', rawEventType: 'session.status', code: 'model_retry' },
      ],
      'late: its text is whole',
      'late: its text is whole',
    ]);
  });

  it('says nothing of what the agent was told, nor of the summary that it writes for itself', () => {
    const user = recv('message.updated', {
      sessionID: 'ses_1',
      info: { id: 'msg_1', sessionID: 'ses_1', role: 'user' },
    });
    const summary = recv('message.updated', {
      sessionID: 'ses_1',
      info: { id: 'msg_1', sessionID: 'ses_1', role: 'assistant', summary: true },
    });
    expect(said(user, text({ text: 'do it', time: { end: 1 } }))[1]).toBe('what the agent was told');
    expect(said(summary, piece('So far'))[1]).toBe('what the agent is to remember');
  });

  it('starts a tool with its input, says what it prints, and ends it once', () => {
    const input = { command: 'ls' };
    const output = recv('message.part.delta', {
      sessionID: 'ses_1',
      messageID: 'msg_1',
      partID: 'prt_c',
      field: 'output',
      delta: 'a\n',
    });
    const done = tool({ status: 'completed', input, output: 'a\n', metadata: { exit: 0 }, time: { start: 5, end: 9 } });
    expect(
      said(tool({ status: 'pending', input: {} }), tool({ status: 'running', input }), output, done, done),
    ).toEqual([
      'a tool call is said when its input is known',
      [{ kind: 'tool.started', toolCallId: 'prt_c', name: 'bash', title: 'ls', input, nativeStatus: 'running' }],
      [{ kind: 'terminal.output', terminalId: 'prt_c', chunk: 'a\n' }],
      [
        {
          kind: 'tool.completed',
          toolCallId: 'prt_c',
          status: 'ok',
          preview: 'a\n',
          nativeStatus: 'completed',
          durationMs: 4,
        },
      ],
      'of a tool that has ended',
    ]);
  });

  it.each([
    ['a command that failed', { status: 'completed', metadata: { exit: 2 } }, 'exit code 2'],
    [
      'a command that was stopped, which is told as completed',
      { status: 'completed', metadata: { exit: null } },
      'it was stopped',
    ],
    ['a tool that was refused', { status: 'error', error: 'rejected' }, 'rejected'],
  ])('says of %s that it did not go well', (_, state, error) => {
    const bodies = bodiesOf(said(tool({ input: {}, output: '', ...state })));
    expect(bodies.at(-1)).toMatchObject({ kind: 'tool.completed', status: 'error', error });
  });

  it('says a tool that is first heard of when it is to be approved, and its whole input when that is known', () => {
    const asked = recv('permission.asked', {
      id: 'per_1',
      sessionID: 'ses_1',
      permission: 'bash',
      metadata: { command: 'ls' },
      tool: { messageID: 'msg_1', callID: 'call_1' },
    });
    const running = tool({ status: 'running', input: { command: 'ls', description: 'List' } });
    const answers = said(tool({ status: 'pending', input: {} }), asked, running);
    expect(answers[1]).toMatchObject([{ kind: 'tool.started', toolCallId: 'prt_c', input: { command: 'ls' } }]);
    expect(answers[2]).toMatchObject([{ kind: 'tool.progress', preview: '{"command":"ls","description":"List"}' }]);
  });

  it('says each file that a tool changed, with the diff that was kept, and of a moved one both names', () => {
    const artifact = { artifactId: 'art_1', bytes: 3, sha256: 'a'.repeat(64), contentType: 'text/x-diff' };
    const kept = { diffs: [{ path: 'a.txt', changeType: 'edit', diff: { artifact, name: 'a.txt.diff' } }] };
    const edited = tool(
      { status: 'completed', input: {}, metadata: { filediff: { file: '/w/a.txt', patch: '@@' } } },
      { tool: 'edit' },
    );
    expect(bodiesOf(said({ ...edited, kept }))).toContainEqual({
      kind: 'file.changed',
      path: 'a.txt',
      changeType: 'edit',
      diff: artifact,
    });
    const files = [{ filePath: '/w/old.txt', type: 'move', patch: '@@', movePath: '/w/new.txt' }];
    const patched = tool({ status: 'completed', input: {}, metadata: { files } }, { tool: 'apply_patch' });
    expect(bodiesOf(said(patched)).filter(({ kind }) => kind === 'file.changed')).toEqual([
      { kind: 'file.changed', path: 'new.txt', changeType: 'create' },
      { kind: 'file.changed', path: 'old.txt', changeType: 'delete' },
    ]);
  });

  it('says at the end of the turn what was changed and no tool has told of', () => {
    const edited = (file: string) => recv('file.edited', { file });
    const wrote = tool(
      { status: 'completed', input: {}, metadata: { filepath: '/w/told.txt', exists: true } },
      { tool: 'write' },
    );
    const answers = said(edited('/w/told.txt'), edited('/w/untold.txt'), wrote, idle());
    expect(answers[0]).toBe('the tool that changed the file says it');
    expect(answers.at(-1)).toEqual([{ kind: 'file.changed', path: 'untold.txt', changeType: 'edit' }]);
  });

  it('says what a command changed as the engine sees it in the work tree, and not again what a tool told', () => {
    const wrote = tool(
      { status: 'completed', input: {}, metadata: { filepath: '/w/told.txt', exists: true } },
      { tool: 'write' },
    );
    const diffs = [
      { file: 'told.txt', patch: '@@' },
      { file: 'made.txt', patch: '@@ -0,0 +1 @@', status: 'added' },
    ];
    const info = { id: 'msg_0', sessionID: 'ses_1', role: 'user', summary: { diffs } };
    const user = recv('message.updated', { sessionID: 'ses_1', info });
    expect(said(wrote, user, user).slice(1)).toEqual([
      [{ kind: 'file.changed', path: 'made.txt', changeType: 'create' }],
      'what the agent was told',
    ]);
  });

  it('says a sub-agent with the call that launched it, keeps what it says apart, and ends it with its last message', () => {
    const launch = {
      status: 'running',
      input: { description: 'Look', prompt: 'Look around' },
      metadata: { sessionId: 'ses_2' },
    };
    const answers = said(
      subSession,
      tool(launch, { tool: 'task' }),
      text({ id: 'prt_s', text: 'Found', time: { end: 2 } }, 'ses_2'),
      idle('ses_2'),
      idle('ses_2'),
    );
    expect(answers[0]).toBe('a sub-agent is said with its launch');
    expect(answers[1]?.[1]).toMatchObject({ kind: 'child.started', childId: 'ses_2', launchToolCallId: 'prt_c' });
    expect(answers.slice(3)).toEqual([
      [{ kind: 'child.completed', childId: 'ses_2', status: 'ok', result: 'Found' }],
      'its end was said',
    ]);
  });

  it('says a sub-agent that speaks before its launch is known, and why it failed', () => {
    const error = { sessionID: 'ses_2', error: { name: 'APIError', data: { message: 'no such model' } } };
    const answers = said(subSession, piece('Hm', 'prt_s', 'ses_2'), recv('session.error', error), idle('ses_2'));
    expect(answers[1]).toMatchObject([{ kind: 'child.started', title: 'Look around' }, { kind: 'message.delta' }]);
    expect(answers.at(-1)).toMatchObject([
      { kind: 'message.completed' },
      { kind: 'child.completed', status: 'error', result: 'no such model' },
    ]);
  });

  it('counts what the run used, each call of the model once, and a sub-agent apart', () => {
    const tokens = { input: 100, output: 10, reasoning: 5, cache: { read: 20, write: 3 } };
    const finish = (id: string, sessionID?: string) => part({ id, type: 'step-finish', tokens, cost: 0.5 }, sessionID);
    const usage = { inputTokens: 123, cachedInputTokens: 20, outputTokens: 15, costUsd: 0.5 };
    const [first, again, second, , ofChild] = said(
      finish('a'),
      finish('a'),
      finish('b'),
      subSession,
      finish('c', 'ses_2'),
    );
    expect(first).toEqual([{ kind: 'usage.updated', ...usage }]);
    expect(again).toBe('a call of the model that was counted');
    expect(second).toMatchObject([{ inputTokens: 246, outputTokens: 30, costUsd: 1 }]);
    expect(ofChild?.[1]).toMatchObject({ kind: 'child.updated', childId: 'ses_2', state: { usage } });
  });

  it('replaces the plan, and says title, agent and model when they change', () => {
    const todos = [
      { content: 'Look', status: 'in_progress' },
      { content: ' ', status: 'pending' },
    ];
    const titled = recv('session.updated', { sessionID: 'ses_1', info: { id: 'ses_1', title: 'A title' } });
    const info = {
      id: 'msg_9',
      sessionID: 'ses_1',
      role: 'assistant',
      agent: 'build',
      providerID: 'local',
      modelID: 'm',
    };
    const answer = recv('message.updated', { sessionID: 'ses_1', info });
    expect(said(recv('todo.updated', { sessionID: 'ses_1', todos }), titled, titled, answer, answer)).toEqual([
      [{ kind: 'plan.updated', entries: [{ id: '0-Look', text: 'Look', status: 'in_progress' }] }],
      [{ kind: 'session.metadata', metadata: { title: 'A title' } }],
      'nothing new of the session',
      [{ kind: 'mode.updated', mode: 'build', model: 'local/m' }],
      'its parts say what it says',
    ]);
  });

  it('lists the commands, marks a compaction, and warns of what the engine warns of', () => {
    const commands: NativeFrame = {
      type: 'GET /command:result',
      dir: 'recv',
      result: [{ name: 'init', description: 'Set up' }, { name: 'review' }],
    };
    const toast = (variant: string) => recv('tui.toast.show', { title: 'MCP', message: 'gone', variant });
    const missed = recv('events.missed', { message: 'the stream broke off' });
    const [listed, marked, serious, harmless, gap] = said(
      commands,
      recv('session.compacted', { sessionID: 'ses_1' }),
      toast('error'),
      toast('info'),
      missed,
    );
    expect(listed).toMatchObject([{ kind: 'commands.updated', commands: ['init', 'review'] }]);
    expect(marked).toMatchObject([{ kind: 'context.marker', markerType: 'memory' }]);
    expect(serious).toMatchObject([{ kind: 'harness.warning', message: 'MCP: gone' }]);
    expect(harmless).toBe('nothing that a reader is to see');
    expect(gap).toMatchObject([{ kind: 'harness.warning', message: 'the stream broke off' }]);
  });

  it('says nothing of a session that is not of this run, and names no type that it does not know', () => {
    expect(said(piece('x', 'prt_x', 'ses_9'), recv('new.thing', {}), part({ id: 'p', type: 'new' }))).toEqual([
      'of a session that is not of this run',
      undefined,
      undefined,
    ]);
  });
});

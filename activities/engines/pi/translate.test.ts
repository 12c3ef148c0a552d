import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { fc } from '../../../contract/property-testkit.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { translatePiFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'pi' };
const recv = (type: string, fields: object = {}): NativeFrame => ({ type, dir: 'recv', ...fields });
const PROMPT: NativeFrame = { type: 'prompt', dir: 'send', id: '1', message: 'do it' };
const begun = recv('message_start', { message: { role: 'assistant' } });
const update = (type: string, fields: object = {}): NativeFrame =>
  recv('message_update', { assistantMessageEvent: { type, contentIndex: 0, ...fields } });
const piece = (delta: string, contentIndex = 0): NativeFrame => update('text_delta', { delta, contentIndex });
const ended = (fields: object = {}): NativeFrame =>
  recv('message_end', { message: { role: 'assistant', stopReason: 'stop', ...fields } });
const user = (text: string): NativeFrame =>
  recv('message_end', { message: { role: 'user', content: [{ type: 'text', text }] } });
const tool = (event: 'start' | 'update' | 'end', fields: object): NativeFrame =>
  recv(`tool_execution_${event}`, { toolCallId: 'call_1', ...fields });
const ui = (method: string, fields: object): NativeFrame =>
  recv('extension_ui_request', { id: 'ui_1', method, ...fields });

/** What a translator says of each frame. */
function said(...frames: NativeFrame[]): (CanonicalBody[] | string | undefined)[] {
  let state: unknown;
  return frames.map((frame) => {
    const translation = translatePiFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state ?? null)) ?? state;
    const { said: answer } = translation;
    if (answer === undefined || 'suppressed' in answer) return answer?.suppressed;
    return answer.map(({ body }) => body);
  });
}

describe('translating pi', () => {
  it('gives a message that is asked for again ids of its own', () => {
    const answers = said(begun, piece('Hello wor'), ended({ stopReason: 'error' }), begun, piece('Hello'));
    expect(answers[2]).toEqual([{ kind: 'message.completed', messageId: 'message-1.0' }]);
    expect(answers[4]).toEqual([{ kind: 'message.delta', messageId: 'message-2.0', text: 'Hello' }]);
  });

  it('ends a thought when the text behind it begins', () => {
    const thought = update('thinking_delta', { delta: 'Hm.' });
    const answers = said(begun, thought, update('text_start', { contentIndex: 1 }), update('thinking_end'));
    expect(answers[2]).toEqual([{ kind: 'reasoning.completed', messageId: 'message-1.0' }]);
    expect(answers[3]).toBe('a text that has ended, or never began');
  });

  it('appends nothing to a text whose end was said', () => {
    const answers = said(begun, piece('one'), update('text_start', { contentIndex: 1 }), piece('two'), piece('three'));
    expect(answers[3]).toEqual([{ kind: 'message.delta', messageId: 'message-1.0+1', text: 'two' }]);
    expect(answers[4]).toEqual([{ kind: 'message.delta', messageId: 'message-1.0+1', text: 'three' }]);
  });

  it('closes the calls of a message that was cut off', () => {
    const call = update('toolcall_end', { toolCall: { id: 'call_1', name: 'bash', arguments: { command: 'ls' } } });
    const [, started, cut] = said(begun, call, ended({ stopReason: 'aborted' }));
    expect(started).toMatchObject([{ kind: 'tool.started', toolCallId: 'call_1', name: 'bash', title: 'ls' }]);
    expect(cut).toMatchObject([{ kind: 'tool.completed', toolCallId: 'call_1', status: 'error' }]);
  });

  it('counts what all model calls of the run took, with what came from a cache', () => {
    const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 7, cost: { total: 0.1 } };
    const free = { ...usage, cost: { total: 0 } };
    const answers = said(begun, ended({ usage }), begun, ended({ usage: free }));
    expect(answers[1]).toEqual([
      { kind: 'usage.updated', inputTokens: 117, cachedInputTokens: 100, outputTokens: 5, costUsd: 0.1 },
    ]);
    expect(answers[3]).toMatchObject([{ inputTokens: 234, outputTokens: 10, costUsd: 0.1 }]);
  });

  it('says an input that was queued, and which queue it waited in, but not the prompt', () => {
    const queued = recv('queue_update', { steering: [], followUp: ['and then'] });
    const answers = said(PROMPT, user('/skill as it was expanded'), queued, user('stop that'), user('and then'));
    expect(answers[1]).toBe('what the agent was told');
    expect(answers[3]).toMatchObject([{ kind: 'turn.started', inputId: 'pi-input-1', queue: 'steering' }]);
    expect(answers[4]).toMatchObject([
      { kind: 'turn.started', input: 'and then', inputId: 'pi-input-2', queue: 'follow_up' },
    ]);
  });

  it('says the file that the driver saw changed, else the one that the tool names, and none of a call that failed', () => {
    const artifact = { artifactId: 'art_1', bytes: 3, sha256: 'a'.repeat(64), contentType: 'text/x-diff' };
    const kept = { changes: [{ path: 'note.txt', changeType: 'edit', diff: { artifact, name: 'note.txt.diff' } }] };
    const start = tool('start', { toolName: 'write', args: { path: './note.txt', content: 'x' } });
    const end = tool('end', { toolName: 'write', isError: false, result: { content: [] } });
    const [, seen] = said(start, { ...end, kept });
    const [, named] = said(start, end);
    const [, none] = said(start, { ...end, isError: true });
    expect(seen?.at(-1)).toEqual({ kind: 'file.changed', path: 'note.txt', changeType: 'edit', diff: artifact });
    expect(named?.at(-1)).toEqual({ kind: 'file.changed', path: './note.txt', changeType: 'create' });
    expect(none?.at(-1)).toMatchObject({ kind: 'tool.completed', status: 'error', error: 'failed' });
  });

  it("says a shell's output as a terminal's, another tool's as its progress", () => {
    const answers = said(
      tool('update', { toolName: 'bash', output: 'tick\n' }),
      tool('update', { toolName: 'fetch', output: 'half' }),
      tool('update', { toolName: 'bash', output: '' }),
    );
    expect(answers).toEqual([
      [{ kind: 'terminal.output', terminalId: 'call_1', chunk: 'tick\n' }],
      [{ kind: 'tool.progress', toolCallId: 'call_1', preview: 'half' }],
      'no news of the tool',
    ]);
  });

  it('says what went wrong behind what a tool had printed', () => {
    const content = [{ type: 'text', text: 'half a line\n\nCommand exited with code 3' }];
    const [answer] = said(tool('end', { toolName: 'bash', isError: true, result: { content } }));
    expect(answer).toContainEqual(expect.objectContaining({ error: 'Command exited with code 3' }));
  });

  it('leaves dialogs to the platform, and says what else an extension shows, without its colours', () => {
    const answers = said(
      ui('select', { title: 'Which?', options: ['a'] }),
      ui('notify', { message: '\u001b[31mcareful\u001b[0m', notifyType: 'warning' }),
      ui('setStatus', { statusKey: 'turns', statusText: 'turn 3' }),
      ui('setWidget', { widgetKey: 'todo', widgetLines: ['one', 'two'] }),
      ui('hologram', {}),
    );
    expect(answers).toEqual([
      'the platform asks',
      [{ kind: 'harness.warning', message: 'careful', rawEventType: 'notify' }],
      [{ kind: 'session.metadata', metadata: { status: { turns: 'turn 3' } } }],
      [{ kind: 'session.metadata', metadata: { widget: { todo: 'one\ntwo' } } }],
      undefined,
    ]);
  });

  it('marks a compaction, and warns of one that failed', () => {
    const done = recv('compaction_end', { reason: 'threshold', result: { summary: 's' }, aborted: false });
    const failed = recv('compaction_end', { reason: 'threshold', aborted: false, errorMessage: 'no room' });
    const [marked, warned] = said(done, failed);
    expect(marked).toMatchObject([{ kind: 'context.marker', markerType: 'memory' }]);
    expect(warned).toMatchObject([{ kind: 'harness.warning', message: 'the conversation was not compacted: no room' }]);
  });

  it('says which model and which commands there are, and what an answer refuses', () => {
    const answer = (fields: object): NativeFrame => recv('response', { id: '1', success: true, ...fields });
    const model = { id: 'scripted', provider: 'local' };
    const answers = said(
      answer({ command: 'get_state', data: { sessionId: 's', model } }),
      answer({ command: 'get_commands', data: { commands: [{ name: 'plan', description: 'Plans' }] } }),
      answer({ command: 'parse', success: false, error: 'Failed to parse command' }),
    );
    expect(answers).toMatchObject([
      [{ kind: 'mode.updated', model: 'local/scripted' }],
      [{ kind: 'commands.updated', commands: ['plan'], catalog: [{ name: 'plan', description: 'Plans' }] }],
      [{ kind: 'harness.warning', message: 'parse: Failed to parse command' }],
    ]);
  });

  it('names no type that it does not know', () => {
    expect(said(recv('new_thing'), update('new_piece'), recv('message_end', { message: { role: 'oracle' } }))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('never throws, translates alike, and says only what the grammar has', () => {
    const types = ['message_start', 'message_update', 'message_end', 'agent_start', 'agent_end', 'agent_settled'];
    const more = ['tool_execution_start', 'tool_execution_update', 'tool_execution_end', 'queue_update', 'response'];
    const others = [
      'extension_ui_request',
      'auto_retry_start',
      'compaction_end',
      'prompt',
      'session_info_changed',
      'odd',
    ];
    const text = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', ''));
    const fields = fc.record(
      {
        message: fc.record({
          role: fc.constantFrom('assistant', 'user', 'toolResult', 'system', 'custom', 'odd'),
          content: fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 })),
          stopReason: fc.constantFrom('stop', 'error', 'aborted', 'toolUse'),
          usage: fc.oneof(fc.anything({ maxDepth: 1 }), fc.record({ input: fc.integer(), output: fc.nat() })),
        }),
        assistantMessageEvent: fc.record({
          type: fc.constantFrom(
            'text_start',
            'text_delta',
            'text_end',
            'thinking_delta',
            'toolcall_start',
            'toolcall_end',
          ),
          contentIndex: fc.integer({ min: -1, max: 2 }),
          delta: text,
          toolCall: fc.record({ id: fc.constantFrom('a', '__proto__', ''), name: text, arguments: fc.anything() }),
        }),
        toolCallId: fc.constantFrom('a', '__proto__', ''),
        toolName: fc.constantFrom('bash', 'write', 'todo', 'constructor', ''),
        args: fc.oneof(fc.anything({ maxDepth: 1 }), fc.record({ path: text })),
        result: fc.anything({ maxDepth: 3 }),
        output: text,
        isError: fc.boolean(),
        id: text,
        method: fc.constantFrom('notify', 'setStatus', 'setWidget', 'setTitle', 'select', 'constructor'),
        statusKey: text,
        command: fc.constantFrom('get_state', 'get_commands', 'prompt', 'constructor'),
        success: fc.boolean(),
        data: fc.anything({ maxDepth: 3 }),
        kept: fc.anything({ maxDepth: 2 }),
      },
      { requiredKeys: [] },
    );
    const frame = fc
      .tuple(fc.constantFrom(...types, ...more, ...others), fc.constantFrom('recv', 'send'), fields)
      .map(([type, dir, rest]) => ({ ...rest, type, dir }));
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
        const stored = JSON.parse(JSON.stringify(frames)) as NativeFrame[];
        const stamped = stored.map((one) => ({ at: 1, frame: one }));
        const segment = { firstSeq: 0, provider: 'pi', stepIndex: 0, attempt: 1, frames: stamped };
        const lane = { runId: 'run_1', threadId: 'thr_1' };
        const once = translateSegment(lane, INITIAL_LANE_STATE, segment, translatePiFrame);
        const again = translateSegment(lane, INITIAL_LANE_STATE, segment, translatePiFrame);
        expect(again).toEqual(once);
        expect(once.dispositions).toHaveLength(stored.length);
        const messages = once.operations.map((operation) => JSON.stringify(operation)).join('\n');
        expect(messages).not.toMatch(/left out|frame not translated/);
      }),
      { numRuns: 200 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { fc } from '../../../contract/property-testkit.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { execFrame, invocationFrame } from './frames.ts';
import { translateCodexExecFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'codex-exec' };
const BEGUN: NativeFrame[] = [
  invocationFrame({ args: ['exec'], threadId: null, input: 'do it' }),
  execFrame({ type: 'thread.started', thread_id: 'thread' }),
  execFrame({ type: 'turn.started' }),
];
const RESUMED = invocationFrame({ args: ['exec', 'resume'], threadId: 'thread', input: 'go on' });
const item = (event: 'started' | 'updated' | 'completed', fields: object): NativeFrame =>
  execFrame({ type: `item.${event}`, item: { id: 'item_1', ...fields } });
const error = (message: string): NativeFrame => execFrame({ type: 'error', message });

/** What a translator says of each frame, after a turn began. */
function said(...frames: NativeFrame[]): (CanonicalBody[] | string | undefined)[] {
  let state: unknown;
  const answers = [...BEGUN, ...frames].map((frame) => {
    const translation = translateCodexExecFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state)) as unknown;
    const { said: answer } = translation;
    if (answer === undefined || 'suppressed' in answer) return answer?.suppressed;
    return answer.map(({ body }) => body);
  });
  return answers.slice(BEGUN.length);
}

describe('translating codex exec', () => {
  it('says a message and a thought whole, under an id that no other attempt and no other run has', () => {
    const answers = said(
      item('completed', { type: 'reasoning', text: 'Hm.' }),
      item('completed', { type: 'agent_message', text: 'Hello' }),
    );
    expect(answers).toEqual([
      [
        { kind: 'reasoning.delta', messageId: 'run_1.0.item_1', text: 'Hm.' },
        { kind: 'reasoning.completed', messageId: 'run_1.0.item_1' },
      ],
      [
        { kind: 'message.delta', messageId: 'run_1.0.item_1', text: 'Hello' },
        { kind: 'message.completed', messageId: 'run_1.0.item_1' },
      ],
    ]);
  });

  it('says a text that came in pieces once', () => {
    const piece = (text: string): NativeFrame => ({
      type: 'item.text',
      dir: 'recv',
      params: { item: { id: 'item_1', type: 'agent_message' }, piece: text },
    });
    const last = { ...item('completed', { type: 'agent_message', text: 'Hel...[2 chars]' }), inPieces: true };
    expect(said(piece('Hel'), piece('lo'), last)).toEqual([
      [{ kind: 'message.delta', messageId: 'run_1.0.item_1', text: 'Hel' }],
      [{ kind: 'message.delta', messageId: 'run_1.0.item_1', text: 'lo' }],
      [{ kind: 'message.completed', messageId: 'run_1.0.item_1' }],
    ]);
  });

  it('says the tools of an MCP server and a search of the web with what they were given and gave', () => {
    const call = { type: 'mcp_tool_call', server: 'files', tool: 'read', arguments: { path: 'a' } };
    const result = { content: [{ type: 'text', text: 'the text' }], structured_content: null };
    const answers = said(
      item('started', { ...call, status: 'in_progress' }),
      item('completed', { ...call, result, status: 'completed' }),
      item('completed', { ...call, error: { message: 'no such file' }, status: 'failed' }),
      item('completed', { type: 'web_search', query: 'tides', action: { type: 'search' } }),
    );
    expect(answers[0]).toMatchObject([{ kind: 'tool.started', name: 'read', server: 'files', input: { path: 'a' } }]);
    expect(answers[1]?.[1]).toMatchObject({ kind: 'tool.completed', status: 'ok', preview: 'the text' });
    expect(answers[2]?.[1]).toMatchObject({ kind: 'tool.completed', status: 'error', error: 'no such file' });
    expect(answers[3]).toMatchObject([{ name: 'web_search', input: { query: 'tides' } }, { status: 'ok' }]);
  });

  it('says why a command failed', () => {
    const command = { type: 'command_execution', command: 'false', aggregated_output: '' };
    const failed = said(item('completed', { ...command, exit_code: 1, status: 'failed' }));
    expect(failed[0]?.[1]).toMatchObject({ kind: 'tool.completed', status: 'error', error: 'exit code 1' });
    const declined = said(item('completed', { ...command, exit_code: null, status: 'declined' }));
    expect(declined[0]?.[1]).toMatchObject({ status: 'error', error: 'declined', nativeStatus: 'declined' });
  });

  it('says each file of a patch with the diff that was kept, and none of a patch that failed', () => {
    const artifact = { artifactId: 'art_1', bytes: 3, sha256: 'a'.repeat(64), contentType: 'text/x-diff' };
    const patch = { type: 'file_change', changes: [{ path: '/w/hello.txt', kind: 'update' }] };
    const kept = { diffs: [{ path: 'hello.txt', changeType: 'edit', diff: { artifact, name: 'hello.txt.diff' } }] };
    const answers = said(
      item('updated', { ...patch, status: 'in_progress' }),
      { ...item('completed', { ...patch, status: 'completed' }), kept },
      item('completed', { ...patch, status: 'failed' }),
    );
    expect(answers[0]).toMatchObject([{ kind: 'tool.started' }, { kind: 'tool.progress', preview: '/w/hello.txt' }]);
    expect(answers[1]).toContainEqual({ kind: 'file.changed', path: 'hello.txt', changeType: 'edit', diff: artifact });
    expect((answers[2] as CanonicalBody[]).map(({ kind }) => kind)).toEqual(['tool.started', 'tool.completed']);
  });

  it('replaces the plan when a step of it is done, and says it once', () => {
    const plan = (completed: boolean) => ({ type: 'todo_list', items: [{ text: 'Look', completed }, { text: '' }] });
    expect(said(item('started', plan(false)), item('updated', plan(true)), item('completed', plan(true)))).toEqual([
      [{ kind: 'plan.updated', entries: [{ id: '0-Look', text: 'Look', status: 'pending' }] }],
      [{ kind: 'plan.updated', entries: [{ id: '0-Look', text: 'Look', status: 'completed' }] }],
      'the plan as it was said',
    ]);
  });

  it('says how a sub-agent ended that its parent waited for', () => {
    const call = { type: 'collab_tool_call', tool: 'wait', receiver_thread_ids: ['sub', 'gone'], status: 'completed' };
    const states = { sub: { status: 'completed', message: 'Found' }, gone: { status: 'not_found', message: null } };
    const [bodies] = said(item('completed', { ...call, prompt: null, agents_states: states }));
    expect(bodies).toContainEqual({ kind: 'child.completed', childId: 'sub', status: 'ok', result: 'Found' });
    expect(bodies).toContainEqual({ kind: 'child.completed', childId: 'gone', status: 'error' });
  });

  it('warns of what the engine tries again, once for the same words, and leaves what ends the turn to its settlement', () => {
    const retry = error('Reconnecting... 1/5 (Overloaded, url: http://127.0.0.1:1/v1)');
    expect(said(retry, retry, error('Overloaded'))).toEqual([
      [
        {
          kind: 'harness.warning',
          message: 'Reconnecting... 1/5 (Overloaded)',
          rawEventType: 'error',
          code: 'model_retry',
        },
      ],
      'said just before',
      'the turn ends with it',
    ]);
  });

  it('warns of what the engine warns of', () => {
    expect(said(item('completed', { type: 'error', message: 'an old option' }))).toEqual([
      [{ kind: 'harness.warning', message: 'an old option', rawEventType: 'error' }],
    ]);
  });

  it('counts what a run used, and of a thread that is older says that the count is the thread’s', () => {
    const usage = { input_tokens: 9, cached_input_tokens: 1, output_tokens: 2 };
    const ended = execFrame({ type: 'turn.completed', usage });
    const tokens = { inputTokens: 9, cachedInputTokens: 1, outputTokens: 2 };
    expect(said(ended)).toEqual([[{ kind: 'usage.updated', ...tokens }]]);
    expect(said(RESUMED, ended)[1], 'by another attempt').toEqual([{ kind: 'usage.updated', ...tokens }]);
    const { state } = translateCodexExecFrame(RESUMED, context, undefined);
    const [earlier] = translateCodexExecFrame(ended, context, state).said as { body: CanonicalBody }[];
    expect(earlier?.body).toEqual({ kind: 'session.metadata', metadata: { threadUsage: tokens } });
  });

  it('names no event and no item that it does not know', () => {
    expect(said(execFrame({ type: 'new.thing' }), item('completed', { type: 'new_item' }))).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('never throws, translates alike, and says only what the grammar has', () => {
    const types = ['item.started', 'item.updated', 'item.completed', 'item.text', 'turn.completed', 'turn.failed'];
    const itemTypes = ['agent_message', 'reasoning', 'command_execution', 'file_change', 'mcp_tool_call'];
    const odd = fc.anything({ maxDepth: 2 });
    const frame = fc.record({
      type: fc.constantFrom(...types, 'thread.started', 'error', 'exec', 'odd'),
      dir: fc.constant('recv'),
      inPieces: fc.boolean(),
      params: fc.oneof(
        odd,
        fc.record({
          message: fc.oneof(fc.string(), fc.constant('Reconnecting...')),
          threadId: fc.constantFrom('thread', null),
          piece: fc.string(),
          usage: fc.oneof(odd, fc.record({ input_tokens: fc.integer(), output_tokens: fc.nat() })),
          item: fc.record({
            id: fc.constantFrom('item_1', '__proto__'),
            type: fc.constantFrom(...itemTypes, 'collab_tool_call', 'todo_list', 'web_search', 'error', 'constructor'),
            text: fc.string(),
            tool: fc.string(),
            status: fc.constantFrom('in_progress', 'completed', 'failed', ''),
            items: fc.oneof(odd, fc.array(fc.record({ text: fc.string(), completed: odd }))),
            changes: fc.oneof(odd, fc.array(fc.record({ path: fc.string(), kind: odd }))),
            receiver_thread_ids: fc.array(fc.constantFrom('sub', '__proto__')),
            agents_states: fc.oneof(odd, fc.dictionary(fc.string(), fc.record({ status: fc.string() }))),
            arguments: odd,
          }),
        }),
      ),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
        const stored = JSON.parse(JSON.stringify([...BEGUN, ...frames])) as NativeFrame[];
        const stamped = stored.map((one) => ({ at: 1, frame: one }));
        const segment = { firstSeq: 0, provider: 'codex-exec', stepIndex: 0, attempt: 1, frames: stamped };
        const lane = { runId: 'run_1', threadId: 'thr_1' };
        const once = translateSegment(lane, INITIAL_LANE_STATE, segment, translateCodexExecFrame);
        const again = translateSegment(lane, INITIAL_LANE_STATE, segment, translateCodexExecFrame);
        expect(again).toEqual(once);
        expect(once.dispositions).toHaveLength(stored.length);
        const messages = once.operations.map((operation) => JSON.stringify(operation)).join('\n');
        expect(messages).not.toMatch(/left out|frame not translated/);
      }),
      { numRuns: 200 },
    );
  });
});

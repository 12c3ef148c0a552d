import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { fc } from '../../../contract/property-testkit.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { ClaudeFrames } from './claude-frames.ts';
import { translateClaudeFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'claude' };
const INIT = { type: 'system', subtype: 'init', session_id: 's1', cwd: '/w', model: 'opus', permissionMode: 'default' };

/** What a translator says of each message, after a round began. */
function said(...messages: object[]): (CanonicalBody[] | string | undefined)[] {
  const frames = new ClaudeFrames();
  let state: unknown;
  const answers = [INIT, ...messages].map((message) => {
    const frame = frames.frameOf('recv', message as Record<string, unknown>);
    const translation = translateClaudeFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state)) as unknown;
    const { said: what } = translation;
    if (what === undefined) return undefined;
    return 'suppressed' in what ? what.suppressed : what.map(({ body }) => body);
  });
  return answers.slice(1);
}

const event = (type: string, fields: object = {}) => ({ type: 'stream_event', event: { type, ...fields } });
const begins = (id: string) => event('message_start', { message: { id } });
const piece = (index: number, text: string) =>
  event('content_block_delta', { index, delta: { type: 'text_delta', text } });
const whole = (id: string, ...content: object[]) => ({ type: 'assistant', message: { id, content } });
const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string, name: string, input: object) => whole('m', { type: 'tool_use', id, name, input });
const gave = (id: string, result: unknown, block: object = {}) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'given', ...block }] },
  tool_use_result: result,
});
const system = (subtype: string, fields: object) => ({ type: 'system', subtype, ...fields });
const result = (fields: object = {}) => ({ type: 'result', subtype: 'success', uuid: 'r1', ...fields });

describe('the dialect of Claude Code', () => {
  it('says a text that came in pieces once, though it is told whole as well', () => {
    const [, one, two, told, stop] = said(
      ...[begins('m1'), piece(0, 'Hel'), piece(0, 'lo'), whole('m1', text('Hello'))],
      event('content_block_stop', { index: 0 }),
    );
    expect([one, two, told]).toEqual([
      [{ kind: 'message.delta', messageId: 'm1', text: 'Hel' }],
      [{ kind: 'message.delta', messageId: 'm1', text: 'lo' }],
      [{ kind: 'message.completed', messageId: 'm1' }],
    ]);
    expect(stop).toBe('the block was told whole');
  });

  it('says a text that is only told whole', () => {
    expect(said(whole('m1', text('Hello')))).toEqual([
      [
        { kind: 'message.delta', messageId: 'm1', text: 'Hello' },
        { kind: 'message.completed', messageId: 'm1' },
      ],
    ]);
  });

  it('gives each text of one answer an id of its own', () => {
    const ids = said(
      whole('m1', text('one')),
      call('c1', 'Read', {}),
      whole('m1', text('two')),
      whole('m1', text('three')),
    )
      .flatMap((bodies) => (Array.isArray(bodies) ? bodies : []))
      .flatMap((body) => (body.kind === 'message.completed' ? [body.messageId] : []));
    expect(ids).toEqual(['m1', 'm1~2', 'm1~3']);
  });

  it('ends a text that the model broke off, and begins the next as another message', () => {
    const [, , next, after] = said(begins('m1'), piece(0, 'Hel'), begins('m2'), piece(0, 'Hello'));
    expect(next).toEqual([{ kind: 'message.completed', messageId: 'm1' }]);
    expect(after).toEqual([{ kind: 'message.delta', messageId: 'm2', text: 'Hello' }]);
  });

  it('names a tool of an MCP server, and the server', () => {
    const [started] = said(call('c1', 'mcp__files__read_it', { query: 'x' }));
    expect(started).toMatchObject([{ kind: 'tool.started', name: 'read_it', server: 'files', title: 'x' }]);
  });

  it('says the tool of a permission that was not told before', () => {
    const asked = { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 'c1', input: { command: 'ls' } };
    expect(said({ type: 'control_request', request_id: 'q', request: asked })).toEqual([
      [{ kind: 'tool.started', toolCallId: 'c1', name: 'Bash', title: 'ls', input: { command: 'ls' } }],
    ]);
  });

  it('says what a tool left: its output, its fault, the file that it changed', () => {
    const patch = { filePath: '/w/a.txt', type: 'create', content: 'x', structuredPatch: [] };
    const [printed, failed, wrote] = said(
      gave('c1', { stdout: 'out', stderr: 'err' }),
      gave('c2', 'Error', { is_error: true, content: '<tool_use_error>no such file</tool_use_error>' }),
      gave('c3', patch),
    );
    expect(printed).toMatchObject([
      { kind: 'terminal.output', chunk: 'out\nerr' },
      { status: 'ok', preview: 'given' },
    ]);
    expect(failed).toEqual([{ kind: 'tool.completed', toolCallId: 'c2', status: 'error', error: 'no such file' }]);
    expect(wrote).toMatchObject([{ status: 'ok' }, { kind: 'file.changed', path: 'a.txt', changeType: 'create' }]);
  });

  it('ends a sub-agent with the result of the call that waited for it', () => {
    const child = { type: 'assistant', parent_tool_use_id: 'c1', subagent_type: 'Explore', task_description: 'Look' };
    const [, spoke, ended] = said(
      call('c1', 'Task', { description: 'Look', prompt: 'look around' }),
      { ...child, message: { id: 'm9', content: [text('found')] } },
      gave('c1', { status: 'completed' }, { content: [text('found it')] }),
    );
    expect(spoke).toMatchObject([
      { kind: 'child.started', childId: 'c1', title: 'Look', state: { role: 'Explore' } },
      { kind: 'message.delta', text: 'found' },
      { kind: 'message.completed' },
    ]);
    expect(ended).toMatchObject([
      { kind: 'tool.completed' },
      { kind: 'child.completed', status: 'ok', result: 'found it' },
    ]);
  });

  it('tells of a sub-agent at work, of its end once, and of no command that is a task too', () => {
    const task = { task_id: 't1', tool_use_id: 'c1', task_type: 'local_agent', description: 'Look' };
    const usage = { total_tokens: 5, tool_uses: 1, duration_ms: 9 };
    const answers = said(
      system('task_started', task),
      system('task_progress', { ...task, usage, last_tool_name: 'Read' }),
      system('task_notification', { task_id: 't1', status: 'failed', summary: 'nothing' }),
      system('task_notification', { task_id: 't1', status: 'failed', summary: 'nothing' }),
      system('task_started', { task_id: 't2', tool_use_id: 'c2', task_type: 'local_bash', description: 'sleep' }),
    );
    expect(answers[0]).toMatchObject([{ kind: 'child.started', childId: 'c1' }]);
    expect(answers[1]).toMatchObject([
      { kind: 'child.updated', state: { lastToolName: 'Read', usage: { toolUses: 1 } } },
    ]);
    expect(answers[2]).toMatchObject([{ kind: 'child.completed', status: 'error', result: 'nothing' }]);
    expect(answers.slice(3)).toEqual(['the sub-agent has ended already', 'the command that it is says it']);
  });

  it('keeps the plan by what its tools record', () => {
    const answers = said(
      gave('c1', { task: { id: '1', subject: 'Look' } }),
      call('c2', 'TaskUpdate', { taskId: '1', subject: 'Look well', status: 'completed' }),
      gave('c2', { taskId: '1', updatedFields: ['subject', 'status'], statusChange: { to: 'completed' } }),
      gave('c3', { taskId: '9', updatedFields: ['status'], statusChange: { to: 'completed' } }),
      gave('c4', {
        newTodos: [
          { content: 'Begin', status: 'in_progress' },
          { content: '', status: 'pending' },
        ],
      }),
    );
    const plans = answers
      .flatMap((bodies) => (Array.isArray(bodies) ? bodies : []))
      .filter((b) => b.kind === 'plan.updated');
    expect(plans.map(({ entries }) => entries.map(({ id, text: words, status }) => [id, words, status]))).toEqual([
      [['1', 'Look', 'pending']],
      [['1', 'Look well', 'completed']],
      [['0-Begin', 'Begin', 'in_progress']],
    ]);
  });

  it('counts what the run has used, round by round, and not what the session had used before', () => {
    const model = { inputTokens: 5, cacheReadInputTokens: 2, outputTokens: 3, costUSD: 0.5 };
    const round = result({ total_cost_usd: 9, result: '', model_usage_since_last_result: { opus: model } });
    expect(said(round, round)).toEqual([
      [{ kind: 'usage.updated', inputTokens: 7, cachedInputTokens: 2, outputTokens: 3, costUsd: 0.5 }],
      [{ kind: 'usage.updated', inputTokens: 14, cachedInputTokens: 4, outputTokens: 6, costUsd: 1 }],
    ]);
    const answer = event('message_start', { message: { id: 'm', usage: { input_tokens: 4, output_tokens: 1 } } });
    const end = event('message_delta', { usage: { output_tokens: 8 } });
    expect(said(answer, end)[1]).toMatchObject([{ inputTokens: 4, outputTokens: 8 }]);
  });

  it('says the answer of a command that the program carries out itself, and no answer twice', () => {
    expect(said(result({ result: 'compacted' }))).toEqual([
      [
        { kind: 'message.delta', messageId: 'r1', text: 'compacted' },
        { kind: 'message.completed', messageId: 'r1' },
      ],
    ]);
    expect(said(whole('m1', text('done')), result({ result: 'done' }))[1]).toBe('the platform says how it ended');
  });

  it('warns of what the turn survives, and leaves to the platform what ends it', () => {
    const failure = {
      type: 'assistant',
      error: 'server_error',
      message: { id: 'x', content: [text('API Error: 500')] },
    };
    expect(
      said(
        failure,
        { ...failure, parent_tool_use_id: 'c1' },
        system('permission_denied', { tool_name: 'Bash', tool_use_id: 'c', message: 'not allowed' }),
        { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour' } },
        { type: 'rate_limit_event', rate_limit_info: { status: 'allowed' } },
        system('compact_boundary', { compact_metadata: { trigger: 'auto', pre_tokens: 9 } }),
      ),
    ).toMatchObject([
      'the turn ends with it',
      [{ kind: 'child.started' }, { kind: 'harness.warning', message: 'API Error: 500', code: 'model_failed' }],
      [{ kind: 'harness.warning', message: 'Bash: not allowed' }],
      [{ kind: 'harness.warning', message: 'rate limit five_hour: rejected' }],
      'nothing that a reader is to see',
      [{ kind: 'context.marker', markerType: 'memory', sourcePayload: { trigger: 'auto', preTokens: 9 } }],
    ]);
  });

  it('names a type that it does not know', () => {
    expect(said({ type: 'new_thing' }, system('new_thing', {}))).toEqual([undefined, undefined]);
  });

  it('never throws, translates alike, accounts for every frame, and says only what the grammar has', () => {
    const id = fc.constantFrom('m1', 'm2', 'c1', 'c2', '__proto__', '');
    const block = fc.record({
      type: fc.constantFrom('text', 'thinking', 'tool_use', 'server_tool_use', 'tool_result', 'image'),
      ...{ id, tool_use_id: id, name: fc.constantFrom('Bash', 'Task', 'mcp__a__b', ''), text: fc.string() },
      ...{ thinking: fc.string(), input: fc.anything({ maxDepth: 2 }), is_error: fc.boolean(), content: fc.anything() },
    });
    const content = fc.oneof(fc.array(block, { maxLength: 3 }), fc.string());
    const parent = { parent_tool_use_id: fc.constantFrom(null, 'c1', '__proto__') };
    const streamed = fc.record({
      type: fc.constantFrom(
        'message_start',
        'message_delta',
        'message_stop',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'error',
      ),
      ...{ index: fc.nat(2), message: fc.record({ id }), content_block: block },
      delta: fc.record({
        type: fc.constantFrom('text_delta', 'thinking_delta', 'input_json_delta', 'odd'),
        ...{ text: fc.string(), thinking: fc.string() },
      }),
      usage: fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat() }),
    });
    const message = fc.oneof(
      fc.record({ type: fc.constant('stream_event'), event: streamed, ...parent }),
      fc.record({ type: fc.constantFrom('assistant', 'user'), message: fc.record({ id, content }), ...parent }),
      fc.record({
        type: fc.constant('system'),
        subtype: fc.constantFrom(
          'init',
          'status',
          'task_started',
          'task_progress',
          'task_updated',
          'task_notification',
          'api_retry',
          'compact_boundary',
        ),
        ...{ task_id: id, tool_use_id: id, session_id: id, status: fc.string(), permissionMode: fc.string() },
        ...{
          task_type: fc.constantFrom('local_agent', 'local_bash'),
          patch: fc.record({ status: fc.constant('running') }),
        },
      }),
      fc.record({ type: fc.constant('result'), subtype: fc.string(), result: fc.string(), uuid: id }),
      fc.record({
        type: fc.constantFrom('tool_progress', 'odd', 'control_request'),
        request: fc.anything(),
        tool_use_id: id,
      }),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
        const frames = new ClaudeFrames();
        const stored = JSON.parse(JSON.stringify([INIT, ...messages])) as Record<string, unknown>[];
        const stamped = stored.map((one): { at: number; frame: NativeFrame } => ({
          at: 1,
          frame: frames.frameOf('recv', one),
        }));
        const segment = { firstSeq: 0, provider: 'claude', stepIndex: 0, attempt: 1, frames: stamped };
        const lane = { runId: 'run_1', threadId: 'thr_1' };
        const once = translateSegment(lane, INITIAL_LANE_STATE, segment, translateClaudeFrame);
        const again = translateSegment(lane, INITIAL_LANE_STATE, segment, translateClaudeFrame);
        expect(again).toEqual(once);
        expect(once.dispositions.every(({ kinds, suppressed }) => kinds.length > 0 || suppressed !== undefined)).toBe(
          true,
        );
        const operations = once.operations.map((operation) => JSON.stringify(operation)).join('\n');
        expect(operations).not.toMatch(/left out|frame not translated/);
      }),
      { numRuns: 200 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { translateAiSdkFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'ai-sdk' };
const artifact = { artifactId: 'art_1', bytes: 9, sha256: 'a'.repeat(64), contentType: 'text/plain' };

const part = (type: string, fields: object = {}): NativeFrame => ({ type, dir: 'recv', part: { type, ...fields } });
const prompt = (...messages: object[]): NativeFrame => ({ type: 'prompt', dir: 'send', messages });
const cancel: NativeFrame = { type: 'cancel', dir: 'send' };
const end: NativeFrame = { type: 'end', dir: 'recv' };
const thrown = (name: string): NativeFrame => ({ type: 'throw', dir: 'recv', name, message: 'no' });
const call = (toolCallId: string, toolName: string, input: unknown = {}): NativeFrame =>
  part('tool-call', { toolCallId, toolName, input });
const result = (toolCallId: string, toolName: string, output: unknown, fields: object = {}): NativeFrame =>
  part('tool-result', { toolCallId, toolName, input: {}, output, ...fields });

/** What the translator says of each frame; its state is stored between them. */
function said(...frames: NativeFrame[]): (CanonicalBody[] | string | undefined)[] {
  let state: unknown;
  return frames.map((frame) => {
    const translation = translateAiSdkFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state)) as unknown;
    const { said: answer } = translation;
    if (answer === undefined || 'suppressed' in answer) return answer?.suppressed;
    return answer.map(({ body }) => body);
  });
}

const bodiesOf = (...frames: NativeFrame[]): CanonicalBody[] =>
  said(...frames).flatMap((answer) => (Array.isArray(answer) ? answer : []));

describe('translating an agent of the AI SDK', () => {
  it('gives each text an id of its own, though the library begins anew with each model call', () => {
    const text = [
      part('start-step', { warnings: [] }),
      part('text-start', { id: 'txt-0' }),
      part('text-delta', { id: 'txt-0', text: 'Hi' }),
      part('text-end', { id: 'txt-0' }),
      part('finish-step', { finishReason: 'stop' }),
    ];
    expect(bodiesOf(...text, ...text)).toEqual([
      { kind: 'message.delta', messageId: 'run_1.0', text: 'Hi' },
      { kind: 'message.completed', messageId: 'run_1.0' },
      { kind: 'message.delta', messageId: 'run_1.1', text: 'Hi' },
      { kind: 'message.completed', messageId: 'run_1.1' },
    ]);
  });

  it('says nothing of a text without a piece, and tells thought from text under one id', () => {
    const bodies = bodiesOf(
      part('text-start', { id: '0' }),
      part('text-end', { id: '0' }),
      part('reasoning-start', { id: '0' }),
      part('reasoning-delta', { id: '0', text: 'hm' }),
      part('text-delta', { id: '0', text: 'so' }),
      end,
    );
    expect(bodies).toEqual([
      { kind: 'reasoning.delta', messageId: 'run_1.0', text: 'hm' },
      { kind: 'message.delta', messageId: 'run_1.1', text: 'so' },
      { kind: 'reasoning.completed', messageId: 'run_1.0' },
      { kind: 'message.completed', messageId: 'run_1.1' },
    ]);
  });

  it('says a call when its input is whole, with what it gave', () => {
    expect(
      said(
        part('tool-input-start', { id: 'c1', toolName: 'read' }),
        part('tool-input-delta', { id: 'c1', delta: '{}' }),
        call('c1', 'read', { path: 'a' }),
        result('c1', 'read', 'text'),
      ),
    ).toEqual([
      'a tool call is said when its input is whole',
      'a tool call is said when its input is whole',
      [{ kind: 'tool.started', toolCallId: 'c1', name: 'read', input: { path: 'a' } }],
      [{ kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'text' }],
    ]);
  });

  it('says what a tool threw', () => {
    const error = { name: 'Error', message: 'no such file' };
    const [, ended] = said(call('c1', 'read'), part('tool-error', { toolCallId: 'c1', toolName: 'read', error }));
    expect(ended).toEqual([{ kind: 'tool.completed', toolCallId: 'c1', status: 'error', error: 'no such file' }]);
  });

  it('says a call under the id of one that ended as another call', () => {
    const bodies = bodiesOf(
      call('c', 'read'),
      result('c', 'read', 'a'),
      call('c', 'read'),
      result('c', 'read', 'b'),
      call('d', 'read'),
    );
    expect(bodies).toMatchObject([
      { kind: 'tool.started', toolCallId: 'c' },
      { kind: 'tool.completed', toolCallId: 'c', preview: 'a' },
      { kind: 'tool.started', toolCallId: 'c.1' },
      { kind: 'tool.completed', toolCallId: 'c.1', preview: 'b' },
      { kind: 'tool.started', toolCallId: 'd' },
    ]);
    expect(said(call('c', 'read'), result('c', 'read', 'a'), result('c', 'read', 'a'))[2]).toMatch(/^late/);
  });

  it('ends a call that a person refused with the reason, and not again when the library says so', () => {
    const request = part('tool-approval-request', {
      approvalId: 'a1',
      toolCall: { toolCallId: 'c1', toolName: 'bash' },
    });
    const response = { type: 'tool-approval-response', approvalId: 'a1', approved: false, reason: 'too dangerous' };
    const answers = said(
      call('c1', 'bash'),
      request,
      end,
      prompt({ role: 'tool', content: [response] }),
      part('tool-output-denied', { toolCallId: 'c1', toolName: 'bash' }),
    );
    expect(answers.slice(1)).toEqual([
      'the platform asks',
      'the platform says that the turn ended',
      [
        {
          kind: 'tool.completed',
          toolCallId: 'c1',
          status: 'error',
          error: 'denied: too dangerous',
          nativeStatus: 'denied',
        },
      ],
      'its end was said with the decision',
    ]);
  });

  it('leaves a call that was approved to its result', () => {
    const request = part('tool-approval-request', {
      approvalId: 'a1',
      toolCall: { toolCallId: 'c1', toolName: 'bash' },
    });
    const response = { type: 'tool-approval-response', approvalId: 'a1', approved: true };
    const answers = said(request, end, prompt({ role: 'tool', content: [response] }), result('c1', 'bash', 'ok'));
    expect(answers[0]).toEqual([{ kind: 'tool.started', toolCallId: 'c1', name: 'bash' }]);
    expect(answers[2]).toBe('the platform says what is asked and what is answered');
    expect(answers[3]).toMatchObject([{ kind: 'tool.completed', toolCallId: 'c1', status: 'ok' }]);
  });

  it('ends a call that the library does not carry out with the answer that it is given', () => {
    const given = (toolCallId: string, output: object) => ({
      type: 'tool-result',
      toolCallId,
      toolName: 'ask',
      output,
    });
    const answers = said(
      call('c1', 'ask'),
      call('c2', 'ask'),
      end,
      prompt({
        role: 'tool',
        content: [
          given('c1', { type: 'json', value: { colour: 'blue' } }),
          given('c2', { type: 'execution-denied', reason: 'dismissed' }),
          given('of-another-run', { type: 'text', value: 'old' }),
        ],
      }),
    );
    expect(answers[3]).toMatchObject([
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: '{"colour":"blue"}' },
      { kind: 'tool.completed', toolCallId: 'c2', status: 'error', error: 'denied: dismissed' },
    ]);
  });

  it.each([
    ['the library says so', [cancel, part('abort', { reason: 'stop' })]],
    ['the stream only ends', [cancel, end]],
    ['the stream throws', [thrown('AbortError')]],
  ])('ends what is open of a run that is cancelled, where %s', (_, frames) => {
    const bodies = bodiesOf(part('text-delta', { id: '0', text: 'Hi' }), call('c1', 'bash'), ...frames);
    expect(bodies.slice(2)).toEqual([
      { kind: 'message.completed', messageId: 'run_1.0' },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'error', error: 'cancelled', nativeStatus: 'cancelled' },
    ]);
  });

  it('shows a sub-agent by what its tool tells before its end', () => {
    const message = (text: string) => ({ id: 'm', role: 'assistant', parts: [{ type: 'text', text }] });
    const bodies = bodiesOf(
      call('c1', 'research', { task: 'look' }),
      result('c1', 'research', message('I lo'), { preliminary: true, input: { task: 'look' } }),
      result('c1', 'research', message('I looked'), { preliminary: true }),
      result('c1', 'research', message('I looked')),
    );
    expect(bodies.slice(1, 5)).toEqual([
      {
        kind: 'child.started',
        childId: 'c1',
        launchToolCallId: 'c1',
        title: 'research',
        state: { prompt: 'look' },
      },
      { kind: 'child.updated', childId: 'c1', status: 'running', state: { summary: 'I lo' } },
      { kind: 'child.updated', childId: 'c1', status: 'running', state: { summary: 'I looked' } },
      { kind: 'child.completed', childId: 'c1', status: 'ok', result: 'I looked' },
    ]);
  });

  it('shows what any other tool tells before its end as its progress', () => {
    const [, progress] = said(call('c1', 'download'), result('c1', 'download', '40 %', { preliminary: true }));
    expect(progress).toEqual([{ kind: 'tool.progress', toolCallId: 'c1', preview: '40 %' }]);
  });

  it('says the plan and the file that a tool changed', () => {
    const todos = [{ content: 'Look', status: 'in_progress' }, { content: '' }];
    const [, planned] = said(call('c1', 'write_todos', { todos }), result('c1', 'write_todos', 'ok'));
    expect(planned).toContainEqual({
      kind: 'plan.updated',
      entries: [{ id: '0-Look', text: 'Look', status: 'in_progress' }],
    });
    const [, edited] = said(call('c2', 'editFile', { file_path: 'a.txt' }), result('c2', 'editFile', 'ok'));
    expect(edited).toContainEqual({ kind: 'file.changed', path: 'a.txt', changeType: 'edit' });
    const editor = 'str_replace_based_edit_tool';
    const [, read] = said(call('c3', editor, { command: 'view', path: 'a.txt' }), result('c3', editor, 'x'));
    expect(read).toHaveLength(1);
  });

  it('counts what all model calls of the run have used', () => {
    const finish = (usage: object) => part('finish-step', { usage, response: { modelId: 'm' } });
    expect(
      bodiesOf(
        finish({ inputTokens: 10, outputTokens: 2, inputTokenDetails: { cacheReadTokens: 4 } }),
        finish({ inputTokens: 5 }),
        finish({ inputTokenDetails: {} }),
      ),
    ).toEqual([
      { kind: 'mode.updated', model: 'm' },
      { kind: 'usage.updated', inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 },
      { kind: 'usage.updated', inputTokens: 15, outputTokens: 2, cachedInputTokens: 4 },
    ]);
  });

  it('tells of an answer that is not whole, and of a warning once', () => {
    const begin = part('start-step', { warnings: [{ type: 'unsupported', feature: 'topK' }] });
    expect(bodiesOf(begin, begin, part('finish-step', { finishReason: 'length' }))).toEqual([
      { kind: 'harness.warning', message: 'unsupported: topK', rawEventType: 'start-step', code: 'model_warning' },
      {
        kind: 'harness.warning',
        message: 'the model reached the limit of its answer',
        rawEventType: 'finish-step',
        code: 'answer_cut_short',
      },
    ]);
  });

  it('tells of a fault without the address of the model and without keys', () => {
    const error = { name: 'AI_APICallError', message: 'POST https://models.test/v1 with sk-abcdefghijk failed' };
    expect(bodiesOf(part('error', { error }), part('error', { error: 'plain' }))).toEqual([
      {
        kind: 'harness.error',
        message: 'POST [address] with [secret] failed',
        fatal: false,
        code: 'model_error',
      },
      { kind: 'harness.error', message: 'plain', fatal: false, code: 'model_error' },
    ]);
  });

  it('names sources, files that were kept, and files that were not', () => {
    const file = part('file', { file: { mediaType: 'image/png' } });
    expect(
      bodiesOf(part('source', { id: 's', sourceType: 'url', url: 'https://a.test', title: 'A' }), file, {
        ...file,
        kept: { output: { artifact, name: 'image.png' } },
      }),
    ).toMatchObject([
      { kind: 'context.marker', markerType: 'knowledge', title: 'A', detail: 'https://a.test' },
      { kind: 'harness.warning', code: 'file_not_kept' },
      { kind: 'artifact.created', artifact, name: 'image.png' },
    ]);
  });

  it('refers to an output that was kept whole', () => {
    const kept = { output: { artifact, name: 'out.txt' } };
    const [, ended] = said(call('c1', 'read'), { ...result('c1', 'read', 'the beginning'), kept });
    expect(ended).toEqual([
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'the beginning', artifact },
      { kind: 'artifact.created', artifact, name: 'out.txt' },
    ]);
  });

  it('knows no type that the library does not have, and tells of a frame that was cut', () => {
    expect(said(part('new-thing'), { type: 'odd', dir: 'send' })).toEqual([undefined, undefined]);
    const cut = { type: 'tool-result', _truncated: true };
    expect(bodiesOf(cut)).toMatchObject([{ kind: 'harness.warning', rawEventType: 'tool-result' }]);
  });
});

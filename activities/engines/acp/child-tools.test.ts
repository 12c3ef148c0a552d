import { describe, expect, it } from 'vitest';
import type { WireFrame } from '../wire/wire-frame.ts';
import { inTurn, said, translated, update } from './acp-frames-testkit.ts';

const call = (fields: object) => update('tool_call', { toolCallId: 't1', status: 'in_progress', ...fields });
const patch = (fields: object) => update('tool_call_update', { toolCallId: 't1', ...fields });
const children = (...frames: readonly WireFrame[]) =>
  said(inTurn(...frames)).filter(({ kind }) => kind.startsWith('child.'));

describe('a child of an ACP agent', () => {
  const input = { prompt: 'look around', description: 'Look', subagent_type: 'general' };

  it('is the call that launches it, from its prompt to its result', () => {
    expect(
      children(call({ name: 'task', rawInput: input }), patch({ status: 'completed', rawOutput: 'seen' })),
    ).toEqual([
      {
        kind: 'child.started',
        childId: 't1',
        launchToolCallId: 't1',
        title: 'Look',
        state: { prompt: 'look around', role: 'general' },
      },
      { kind: 'child.completed', childId: 't1', status: 'ok', result: 'seen' },
    ]);
  });

  it('that was only sent off is still running when the call ends', () => {
    const launched = patch({ _meta: { claudeCode: { toolResponse: { isAsync: true } } } });
    const frames = [call({ name: 'Task', rawInput: input }), launched, patch({ status: 'completed' })];
    expect(children(...frames).at(-1)).toEqual({ kind: 'child.updated', childId: 't1', status: 'running' });
  });

  it('says and does its own things under its own name', () => {
    const inside = {
      _meta: { claudeCode: { parentToolUseId: 't1', toolName: 'Read' } },
      toolCallId: 't2',
      status: 'in_progress',
    };
    const answer = translated(inTurn(call({ name: 'Task', rawInput: input }), update('tool_call', inside))).at(-1);
    expect(answer).toMatchObject([{ native: { nativeSessionId: 't1', nativeParentSessionId: 'ses_1' } }]);
  });

  it('of codex is the thread, however often its state is told', () => {
    const threads = (status: string, message: string | null) => ({
      status: 'completed',
      rawInput: { prompt: 'look', receiverThreadIds: ['th_2'], agentsStates: { th_2: { status, message } } },
    });
    const wait = update('tool_call', { toolCallId: 't2', title: 'wait', ...threads('completed', 'seen') });
    const again = update('tool_call', { toolCallId: 't3', title: 'wait', ...threads('completed', 'seen') });
    expect(children(call({ title: 'spawnAgent' }), patch(threads('pendingInit', null)), wait, again)).toEqual([
      { kind: 'child.started', childId: 'th_2', launchToolCallId: 't1', state: { prompt: 'look' } },
      { kind: 'child.updated', childId: 'th_2', status: 'pendingInit' },
      { kind: 'child.completed', childId: 'th_2', status: 'ok', result: 'seen' },
    ]);
  });
});

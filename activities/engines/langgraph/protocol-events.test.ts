import { describe, expect, it } from 'vitest';
import { CHILD, bodiesOf, event, whole } from './translate-testkit.ts';

describe('translating the events of the protocol of LangGraph', () => {
  it('says the blocks of the protocol once, also one that had no piece', () => {
    const node = ['model:x'];
    const message = (data: object) => event('messages', node, { run_id: 'r', ...data });
    const bodies = bodiesOf(
      message({ event: 'message-start', id: 'm1' }),
      message({ event: 'content-block-start', index: 0, content: { type: 'thinking', thinking: 'oh ' } }),
      message({ event: 'content-block-delta', index: 0, delta: { type: 'reasoning-delta', reasoning: 'hm' } }),
      message({ event: 'content-block-finish', index: 0, content: { type: 'reasoning', reasoning: 'hm' } }),
      message({ event: 'content-block-finish', index: 1, content: { type: 'text', text: 'Hello' } }),
      message({ event: 'message-finish', usage: { input_tokens: 3 } }),
      event('updates', [], { node: 'model', values: { messages: [whole('m1', 'Hello')] } }),
      message({ event: 'error', message: 'Overloaded' }),
    );
    expect(bodies).toEqual([
      { kind: 'reasoning.delta', messageId: 'run_1.0', text: 'oh ' },
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
    const shared = bodiesOf(
      event('tools', [CHILD], { ...started, tool_call_id: 'c1' }),
      event('tools', [CHILD], { ...started, tool_call_id: 'c2' }),
      event('updates', [CHILD], { node: 'agent', values: {} }),
    );
    expect(shared.at(-1)).toEqual({ kind: 'child.started', childId: CHILD });
    expect(bodies.at(-1)).toEqual({
      kind: 'child.completed',
      childId: 'tools:two',
      status: 'error',
      result: 'no model',
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { LIFECYCLE_TYPES, type LifecycleBody } from '../../../contract/lifecycle.ts';
import { envelope } from './driver-testkit.ts';
import { translateLifecycleFrame } from './translate.ts';

const context = { runId: 'run_1', provider: 'lifecycle:x', stepIndex: 0, attempt: 1 };

function translated(frames: readonly NativeFrame[]) {
  let state: unknown;
  return frames.map((frame) => {
    const { said, state: next } = translateLifecycleFrame(frame, context, state);
    state = next === undefined ? state : (JSON.parse(JSON.stringify(next)) as unknown);
    return said;
  });
}

function bodies(frames: readonly NativeFrame[]): CanonicalBody[] {
  return translated(frames).flatMap((said) =>
    said === undefined || 'suppressed' in said ? [] : said.map(({ body }) => body),
  );
}

const of = (...said: (LifecycleBody | readonly [LifecycleBody, ...string[]])[]): NativeFrame[] =>
  said.map((each, i) => {
    const [body, ...namespace] = 'type' in each ? [each] : each;
    return envelope(body, i, namespace);
  });

const call = (id: string, args: Record<string, unknown> = {}): LifecycleBody => ({
  type: 'tool.started',
  data: { tool_call_id: id, tool_name: 't', arguments: args },
});
const argument = (id: string, delta: string): LifecycleBody => ({
  type: 'tool.arguments.delta',
  data: { tool_call_id: id, delta },
});

describe('the lifecycle dialect', () => {
  it('says a call with its streamed arguments as soon as they are whole', () => {
    const frames = of(call('a'), call('b'), argument('a', '{"x":'), argument('b', '{}'), argument('a', '1}'));
    expect(bodies(frames)).toEqual([
      { kind: 'tool.started', toolCallId: 'b', name: 't', input: {} },
      { kind: 'tool.started', toolCallId: 'a', name: 't', input: { x: 1 } },
    ]);
  });

  it('says a call without arguments before whatever comes next', () => {
    const frames = of(call('a'), { type: 'tool.finished', data: { tool_call_id: 'a', result: 'r' } });
    expect(bodies(frames).map(({ kind }) => kind)).toEqual(['tool.started', 'tool.completed']);
  });

  it('keeps no more of long arguments than a timeline shows', () => {
    const frames = of(call('a'), ...Array.from({ length: 50 }, () => argument('a', 'x'.repeat(1_000))));
    const last = frames.at(-1) as NativeFrame;
    let state: unknown;
    for (const frame of frames) ({ state } = translateLifecycleFrame(frame, context, state));
    expect(JSON.stringify(state).length).toBeLessThan(3_000);
    const { said } = translateLifecycleFrame(
      { ...last, ...envelope({ type: 'warning', data: { code: 'c', message: '' } }, 99) },
      context,
      state,
    );
    expect(JSON.stringify(said)).toContain('...[48000 chars]');
  });

  it('shows a namespace as a sub-agent, whose words carry its id', () => {
    const entered: LifecycleBody = {
      type: 'namespace.entered',
      data: { agent_id: 'a', agent_name: 'Child', parent_tool_call_id: 'c' },
    };
    const text: LifecycleBody = { type: 'text.delta', data: { message_id: 'm', delta: 'hi' } };
    const said = translated(of([entered, 'n'], [text, 'n'], [entered, 'n', 'o/p'], [text, 'n', 'o/p']));
    expect(said).toMatchObject([
      [{ body: { kind: 'child.started', childId: 'n', launchToolCallId: 'c', title: 'Child' } }],
      [{ body: { kind: 'message.delta' }, native: { nativeSessionId: 'n', nativeParentSessionId: 'root' } }],
      [{ body: { kind: 'child.started', childId: 'n/o%2Fp', parentChildId: 'n' } }],
      [{ native: { nativeSessionId: 'n/o%2Fp', nativeParentSessionId: 'n' } }],
    ]);
  });

  it('reports of usage what the adapter reported, and no more', () => {
    const usage = (data: object): LifecycleBody => ({ type: 'usage.updated', data: { final: false, ...data } });
    const frames = of(
      usage({ input_tokens: 3, cost: 2, currency: 'EUR' }),
      usage({ output_tokens: null }),
      usage({ cost: 1, currency: 'USD' }),
    );
    expect(bodies(frames)).toEqual([
      { kind: 'usage.updated', inputTokens: 3 },
      { kind: 'usage.updated', costUsd: 1 },
    ]);
  });

  it('tells the same message id of two streams apart', () => {
    const body: LifecycleBody = { type: 'text.finished', data: { message_id: 'm' } };
    const again = { ...envelope(body, 0), run_id: 'run_1.2' };
    expect(bodies([...of(body), again])).toMatchObject([{ messageId: 'run_1.0.1.m' }, { messageId: 'run_1.0.1.2.m' }]);
  });

  it('accounts for every type, warns of what is malformed, knows no other, and never throws', () => {
    for (const type of LIFECYCLE_TYPES) {
      const [said] = translated([{ type }]);
      expect(said, type).toBeDefined();
    }
    expect(translated([{ type: 'text.delta', data: 5 }])).toMatchObject([[{ body: { kind: 'harness.warning' } }]]);
    expect(translated([{ type: 'text.delta', _truncated: true }])).toMatchObject([
      [{ body: { kind: 'harness.warning' } }],
    ]);
    expect(translated([{ type: 'tool.invented' }])).toEqual([undefined]);
  });

  it('says of a refused event its rule and type', () => {
    const [said] = translated([{ type: 'refused', rule: 5, reason: 'r', eventType: 'text.delta' }]);
    expect(said).toMatchObject([{ body: { code: 'harness_event_invalid', rawEventType: 'text.delta' } }]);
  });
});

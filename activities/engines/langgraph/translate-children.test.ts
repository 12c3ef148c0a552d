import { describe, expect, it } from 'vitest';
import type { NativeFrame } from '../../../contract/frames.ts';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { translateLangGraphFrame } from './translate.ts';
import {
  CHILD,
  bodiesOf,
  chunkOf,
  emissionsOf,
  end,
  event,
  input,
  lc,
  piece,
  result,
  tool,
} from './translate-testkit.ts';

describe('translating the sub-agents of LangGraph', () => {
  it('keeps what a sub-agent says apart, and ends it with the call that it works for', () => {
    const task = { description: 'look around', subagent_type: 'explorer' };
    const emissions = emissionsOf(
      tool('on_tool_start', 'c1', { name: 'task', input: JSON.stringify(task) }),
      chunkOf('updates', { 'Middleware.before_agent': {} }, [CHILD]),
      piece('m1', 'Found', {}, [CHILD]),
      tool('on_tool_start', 'c2', {}, [CHILD]),
      tool('on_tool_end', 'c1', { name: 'task', output: { update: { messages: [result('c1', 'Found it')] } } }),
    );
    const native = { nativeSessionId: CHILD, nativeParentSessionId: 'run_1' };
    expect(emissions.slice(1)).toEqual([
      {
        body: {
          kind: 'child.started',
          childId: CHILD,
          launchToolCallId: 'c1',
          title: 'explorer',
          state: { prompt: 'look around', role: 'explorer' },
        },
        native,
      },
      { body: { kind: 'message.delta', messageId: 'run_1.0', text: 'Found' }, native },
      { body: { kind: 'tool.started', toolCallId: 'c2', name: 'read' }, native },
      { body: { kind: 'child.updated', childId: CHILD, status: 'running', state: { lastToolName: 'read' } }, native },
      { body: { kind: 'message.completed', messageId: 'run_1.0' }, native },
      { body: { kind: 'child.completed', childId: CHILD, status: 'ok', result: 'Found it' }, native },
      { body: { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'Found it' } },
    ]);
  });

  it('claims no call for a sub-agent where two are possible, and ends it where the result comes from its place', () => {
    const emissions = bodiesOf(
      tool('on_tool_start', 'c1', { name: 'task' }),
      tool('on_tool_start', 'c2', { name: 'task' }),
      piece('m1', 'Found', {}, [CHILD]),
      chunkOf('messages', [result('c2', 'Found it'), { langgraph_checkpoint_ns: CHILD }]),
    );
    expect(emissions[2]).toEqual({ kind: 'child.started', childId: CHILD });
    expect(emissions.slice(4)).toEqual([
      { kind: 'message.completed', messageId: 'run_1.0' },
      { kind: 'child.completed', childId: CHILD, status: 'ok', result: 'Found it' },
      { kind: 'tool.completed', toolCallId: 'c2', status: 'ok', preview: 'Found it' },
    ]);
  });

  it('shows a model that works inside of a call as its sub-agent', () => {
    const inside = { langgraph_checkpoint_ns: CHILD, langgraph_node: 'tools' };
    const bodies = bodiesOf(
      tool('on_tool_start', 'c1', { name: 'summarize' }),
      chunkOf('messages', [lc('AIMessageChunk', { id: 'm1', content: 'In short' }), inside]),
      tool('on_tool_end', 'c1', { output: 'In short' }),
    );
    expect(bodies.map(({ kind }) => kind)).toEqual([
      'tool.started',
      'child.started',
      'message.delta',
      'message.completed',
      'child.completed',
      'tool.completed',
    ]);
    const told = event('messages', [CHILD], { event: 'content-block-delta', delta: { type: 'text-delta', text: 'x' } });
    expect(bodiesOf(told)[0]).toEqual({ kind: 'child.started', childId: CHILD });
  });

  it('does not end a sub-agent with the result of another call in its place', () => {
    const bodies = bodiesOf(
      tool('on_tool_start', 'c1', { name: 'task' }),
      tool('on_tool_start', 'c2'),
      piece('m1', 'Found', {}, [CHILD]),
      chunkOf('messages', [result('c2', 'a file'), { langgraph_checkpoint_ns: CHILD }]),
      chunkOf('messages', [result('c1', 'Found it'), { langgraph_checkpoint_ns: CHILD }]),
    );
    expect(bodies.slice(4)).toMatchObject([
      { kind: 'tool.completed', toolCallId: 'c2' },
      { kind: 'message.completed' },
      { kind: 'child.completed', childId: CHILD, result: 'Found it' },
      { kind: 'tool.completed', toolCallId: 'c1' },
    ]);
  });

  it('tells apart the sub-agents of calls that share a place, and gives none of them a result that may be another’s', () => {
    const bodies = bodiesOf(
      tool('on_tool_start', 'c1', { name: 'task' }),
      tool('on_tool_start', 'c2', { name: 'task' }),
      piece('m1', 'one', {}, [CHILD]),
      piece('m2', 'two', {}, [CHILD, '1', 'agent:x']),
      chunkOf('messages', [result('c1', 'Found it'), { langgraph_checkpoint_ns: CHILD }]),
    );
    expect(bodies.filter(({ kind }) => kind.startsWith('child.'))).toEqual([
      { kind: 'child.started', childId: CHILD },
      { kind: 'child.started', childId: `${CHILD}|1` },
      { kind: 'child.completed', childId: CHILD, status: 'ok' },
      { kind: 'child.completed', childId: `${CHILD}|1`, status: 'ok' },
    ]);
  });

  it('says a sub-agent of a sub-agent as that one’s', () => {
    const [first, second] = bodiesOf(piece('m1', 'deep', {}, [CHILD, 'tools:two']));
    expect(first).toEqual({ kind: 'child.started', childId: CHILD });
    expect(second).toEqual({ kind: 'child.started', childId: 'tools:two', parentChildId: CHILD });
  });

  it('begins anew what goes on in another step: the platform has ended it while the run was parked', () => {
    const lane = { runId: 'run_1', threadId: 'thr_1' };
    const step = (stepIndex: number, ...frames: NativeFrame[]) => {
      const stamped = frames.map((frame) => ({ at: 1, frame }));
      return { firstSeq: 0, provider: 'langgraph', stepIndex, attempt: 1, frames: stamped };
    };
    const platform = (frame: NativeFrame) => ({ ...step(0, frame), provider: 'tidemark' });
    const asked = step(
      0,
      tool('on_tool_start', 'c1', { name: 'task' }),
      piece('m1', 'Which?', {}, [CHILD]),
      chunkOf('updates', { __interrupt__: [{ id: 'i1', value: 'Which?' }] }),
      end,
    );
    const gone = step(
      1,
      input({ resume: 'Blue' }),
      piece('m2', 'Blue, then', {}, [CHILD]),
      tool('on_tool_end', 'c1', { name: 'task', output: 'done' }),
    );
    let state = INITIAL_LANE_STATE;
    const said = [asked, platform({ type: 'step.ended', step: 0, status: 'parked' }), gone].map((segment) => {
      const translated = translateSegment(lane, state, segment, translateLangGraphFrame);
      ({ state } = translated);
      return translated.operations.flatMap((operation) => (operation.op === 'emit' ? [operation.event] : []));
    });
    expect(said[1]?.map(({ kind }) => kind)).toEqual(['tool.completed', 'child.completed']);
    expect(said[2]).toMatchObject([
      { kind: 'child.started', childId: CHILD },
      { kind: 'message.started' },
      { kind: 'message.delta', text: 'Blue, then' },
      { kind: 'message.completed' },
      { kind: 'child.completed', result: 'done' },
      { kind: 'tool.started', toolCallId: 'c1.1', name: 'task' },
      { kind: 'tool.completed', toolCallId: 'c1.1', status: 'ok' },
    ]);
  });

  it('lets a graph that is a node of its own graph speak for the run', () => {
    expect(emissionsOf(piece('m1', 'Hi', {}, ['researcher:one']))).toEqual([
      { body: { kind: 'message.delta', messageId: 'run_1.0', text: 'Hi' } },
    ]);
  });
});

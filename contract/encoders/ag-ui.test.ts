import { expect, it } from 'vitest';
import { agUiLegacyEncoder } from './ag-ui-legacy.ts';
import { startAgUiReplay, advanceAgUiReplay, reopenAgUi } from './ag-ui-reopen.ts';
import { agUiEncoder } from './ag-ui.ts';
import { begin, finish, leg } from './lifecycle-bodies.testsuite.ts';
import type { LegEncoder } from './lifecycle-encoding.ts';

const context = { agentName: 'Ada', threadId: 'their-thread', runId: 'their-run' };

function boundaries<State>({ initial, encode }: LegEncoder<State>): unknown[] {
  let state = initial;
  return leg([begin, finish]).flatMap((event) => {
    const encoded = encode(state, event, context);
    state = encoded.state;
    return encoded.frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('{'))) as unknown);
  });
}

it('echoes the ids of the request that a stream answers, on both boundaries', () => {
  const theirs = { threadId: 'their-thread', runId: 'their-run' };
  expect(boundaries(agUiEncoder)).toMatchObject([theirs, theirs]);
  expect(boundaries(agUiLegacyEncoder)).toMatchObject([theirs, theirs]);
});

it('opens a leg with the thread so far, for a client that may hold less', () => {
  const before = [{ id: 'user_1', role: 'user', content: 'Hello' }] as const;
  const [started] = leg([begin]);
  if (started === undefined) throw new Error('a leg begins');
  const replay = advanceAgUiReplay(startAgUiReplay(before), [{ event: started, context }]);
  const frames = reopenAgUi(replay, 7).map((frame) => JSON.parse(frame.slice(frame.indexOf('{'))) as unknown);
  expect(frames).toMatchObject([
    { type: 'RUN_STARTED', runId: 'their-run', metadata: { deliverySeq: 7 } },
    { type: 'MESSAGES_SNAPSHOT', messages: before, metadata: { deliverySeq: 7 } },
  ]);
});

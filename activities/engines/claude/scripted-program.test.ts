import { afterEach, expect, test } from 'vitest';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { cleared } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';
import { translateClaudeFrame } from './translate.ts';

afterEach(cleared);

test('the scripted program says nothing that Claude Code would not say, and of each thing a reader sees its events', async () => {
  const at = await stage();
  at.answer = ({ kind }) =>
    Promise.resolve(kind === 'approval' ? { status: 'rejected', message: null } : { status: 'dismissed' });
  const steps = ['thought hm', 'text hello', 'flood 20', 'tool 3000', 'permission', 'question', 'withdrawn', 'plan'];
  await turn(at, [...steps, 'write new.txt', 'edit a.txt', 'unstreamed 9000', 'agent', 'retry overloaded'].join('\n'));
  const frames = at.frames.map((frame, index) => ({ at: index, frame }));
  const segment = { firstSeq: 0, provider: 'claude', stepIndex: 0, attempt: 1, frames };
  const ids = { runId: 'run_1', threadId: 'thr_1' };
  const { dispositions, operations } = translateSegment(ids, INITIAL_LANE_STATE, segment, translateClaudeFrame);
  const unsaid = operations.flatMap((operation) => {
    const isFault = operation.op === 'emit' && JSON.stringify(operation.event).includes('without a mapping');
    return isFault ? [operation] : [];
  });
  expect(unsaid).toEqual([]);
  const said = new Set(dispositions.flatMap(({ kinds }) => kinds));
  expect([...said].toSorted()).toEqual([
    ...['artifact.created', 'child.completed', 'child.started', 'child.updated', 'commands.updated', 'file.changed'],
    ...['harness.warning', 'message.completed', 'message.delta', 'message.started', 'mode.updated'],
    ...['reasoning.completed', 'reasoning.delta', 'session.metadata'],
    ...['terminal.output', 'tool.completed', 'tool.started', 'usage.updated'],
  ]);
});

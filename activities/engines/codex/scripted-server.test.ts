import { afterEach, expect, test } from 'vitest';
import { INITIAL_LANE_STATE, translateSegment } from '../../../contract/translation.ts';
import { cleared } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';
import { translateCodexFrame } from './translate.ts';

afterEach(cleared);

test('the scripted app-server says nothing that Codex would not say, and of each thing a reader sees its events', async () => {
  const at = await stage();
  at.answer = ({ kind }) =>
    Promise.resolve(kind === 'approval' ? { status: 'rejected', message: null } : { status: 'dismissed' });
  const steps = ['thought hm', 'text hello', 'flood 20', 'tool 3000', 'tools', 'permission', 'patch a.txt', 'question'];
  await turn(at, [...steps, 'withdrawn', 'plan', 'edit a.txt', 'child', 'retry overloaded', 'usage'].join('\n'));
  const frames = at.frames.map((frame, index) => ({ at: index, frame }));
  const segment = { firstSeq: 0, provider: 'codex', stepIndex: 0, attempt: 1, frames };
  const ids = { runId: 'run_1', threadId: 'thr_1' };
  const { dispositions } = translateSegment(ids, INITIAL_LANE_STATE, segment, translateCodexFrame);
  const unsaid = dispositions.flatMap(({ kinds, suppressed }, index) => {
    return kinds.length > 0 || suppressed !== undefined ? [] : [at.frames[index]?.type];
  });
  expect(unsaid).toEqual([]);
  const said = new Set(dispositions.flatMap(({ kinds }) => kinds));
  expect([...said].toSorted()).toEqual([
    ...['artifact.created', 'child.completed', 'child.started', 'child.updated', 'file.changed', 'harness.warning'],
    ...['message.completed', 'message.delta', 'message.started', 'mode.updated', 'plan.updated'],
    ...['reasoning.completed', 'reasoning.delta'],
    ...['terminal.output', 'tool.completed', 'tool.started', 'usage.updated'],
  ]);
});

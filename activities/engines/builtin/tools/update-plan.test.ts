import { expect, it } from 'vitest';
import { textOf, type ToolResultMessage } from '../../../../contract/agent-messages.ts';
import { FRAME_LIMIT_BYTES, utf8Bytes } from '../../../../contract/frames.ts';
import { toolResult } from '../frames.ts';
import { toolContext } from './tool-testkit.ts';
import { updatePlan } from './update-plan.ts';

interface Entry {
  readonly id: string;
  readonly text: string;
  readonly status: string;
}

async function update(...entries: readonly (readonly [text: string, status: string])[]) {
  const args = { entries: entries.map(([text, status]) => ({ text, status })) };
  const { content, isError, details } = await updatePlan.execute(args, toolContext());
  return { said: textOf(content), isError, details, plan: (details as { plan?: Entry[] } | undefined)?.plan ?? [] };
}

it('the plan is handed on whole, and the model is told how far it is', async () => {
  const { said, plan } = await update(
    ['look', 'completed'],
    ['think', 'in_progress'],
    ['do', 'pending'],
    ['rest', 'pending'],
  );
  expect(said).toBe('the plan is shown: 2 pending, 1 in progress, 1 completed');
  expect(plan.map(({ text, status }) => [text, status])).toEqual([
    ['look', 'completed'],
    ['think', 'in_progress'],
    ['do', 'pending'],
    ['rest', 'pending'],
  ]);
});

it('a step keeps its id when its status and its place change, and two alike have two', async () => {
  const first = await update(['look', 'pending'], ['again', 'pending'], ['again', 'pending']);
  const later = await update(['new', 'pending'], ['look', 'completed'], ['again', 'completed'], ['again', 'pending']);
  expect(later.plan.slice(1).map(({ id }) => id)).toEqual(first.plan.map(({ id }) => id));
  expect(new Set(later.plan.map(({ id }) => id)).size).toBe(4);
});

it('a step is one line of visible text', async () => {
  expect((await update(['  look\n\u202Eround \ud800', 'pending'])).plan[0]?.text).toBe('look round \uFFFD');
  expect(await update(['look', 'pending'], ['\u200B\n', 'pending'])).toMatchObject({
    isError: true,
    said: 'error: the text of step 2 is empty; say what the step is',
  });
});

it('the longest plan still makes a frame under the limit, and one that would not is refused', async () => {
  const steps = (count: number) => Array.from({ length: count }, () => ['你'.repeat(200), 'in_progress'] as const);
  const { isError, said, details } = await update(...steps(24));
  expect(isError).toBe(false);
  const message: ToolResultMessage = {
    role: 'tool-result',
    toolCallId: 'tc',
    toolName: 'update_plan',
    content: [{ type: 'text', text: '\u0001'.repeat(5_000) }],
    isError: false,
    details,
    timestamp: 1,
  };
  const frame = toolResult(message);
  expect(frame).toHaveProperty('plan');
  expect(utf8Bytes(JSON.stringify(frame))).toBeLessThan(FRAME_LIMIT_BYTES);
  expect(said).toContain('24 in progress');
  expect((await update(...steps(25))).said).toBe('error: the plan is too long; use fewer steps, or shorter ones');
});

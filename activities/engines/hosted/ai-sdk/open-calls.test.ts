import { expect, test } from 'vitest';
import type { ContentPart, ModelMessage } from './agent-shape.ts';
import { withoutOpenCalls } from './open-calls.ts';

const user: ModelMessage = { role: 'user', content: 'go' };
const calls = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: [
    { type: 'text', text: 'so' },
    ...ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 't', input: {} })),
  ],
});
const results = (...ids: string[]): ModelMessage => ({
  role: 'tool',
  content: ids.map((toolCallId) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 't',
    output: { type: 'text', value: 'r' },
  })),
});
const NONE = new Set<string>();

/** The ids of the results of a message, those that were given here marked. */
function idsIn({ content }: ModelMessage): string[] {
  const parts = content as readonly (ContentPart & { readonly output?: { readonly type: string } })[];
  return parts.map(({ type, toolCallId = type, output }) =>
    output?.type === 'error-text' ? `${toolCallId}!` : toolCallId,
  );
}

test('a conversation whose calls have results stays as it is', () => {
  const whole = [user, calls('a', 'b'), results('a', 'b'), { role: 'assistant', content: 'done' } as const];
  expect(withoutOpenCalls(whole, NONE)).toEqual(whole);
});

test('a call without a result has one behind its message, before anybody says more', () => {
  const closed = withoutOpenCalls([user, calls('a'), user], NONE);
  expect(closed.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  expect(withoutOpenCalls([user, calls('a')], NONE).at(-1)?.role).toBe('tool');
});

test('it stands beside the results and the decisions that are there', () => {
  const decision: ModelMessage = {
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId: 'x', approved: true }],
  };
  expect(
    withoutOpenCalls([calls('a', 'b'), results('a')], NONE)
      .map(idsIn)
      .at(-1),
  ).toEqual(['b!', 'a']);
  expect(
    withoutOpenCalls([calls('a'), decision], NONE)
      .map(idsIn)
      .at(-1),
  ).toEqual(['a!', 'tool-approval-response']);
});

test('a result that came in a later message counts, and a call that the vendor runs is not ours', () => {
  const decided = [calls('a'), { role: 'tool', content: [] } as const, results('a')];
  expect(withoutOpenCalls(decided, NONE)).toEqual(decided);
  const vendors: ModelMessage = {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'v', providerExecuted: true }],
  };
  expect(withoutOpenCalls([vendors], NONE)).toEqual([vendors]);
});

test('it says whether the call was not run, or whether nobody knows', () => {
  const said = JSON.stringify(withoutOpenCalls([calls('a', 'b')], new Set(['a'])));
  expect(said).toMatch(/"a".*not run.*"b".*not known/);
});

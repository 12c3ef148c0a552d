import { expect, test } from 'vitest';
import { gateTools } from './gate.ts';
import type { Block, PiApi, PiContext, ToolCallEvent } from './pi-api.ts';

/** What the gate says of a call whose dialog is answered so. */
async function judged(answer: string | undefined): Promise<{ block: Block | undefined; input: unknown }> {
  const handlers: ((event: ToolCallEvent, ctx: PiContext) => Promise<Block | undefined>)[] = [];
  const pi = {
    on: (_: string, handler: (typeof handlers)[number]) => handlers.push(handler),
    getFlag: () => 'bash,write',
    getAllTools: () => [],
    appendEntry: () => undefined,
  } as unknown as PiApi;
  gateTools(pi);
  const ctx = {
    ui: { input: () => Promise.resolve(answer) },
    sessionManager: { getBranch: () => [] },
  } as unknown as PiContext;
  const input = { command: 'ls' };
  return { block: await handlers[0]?.({ toolName: 'bash', toolCallId: 'call_1', input }, ctx), input };
}

test.each([
  ['nobody', undefined],
  ['what is no JSON', 'Yes'],
  ['nothing', 'null'],
  ['a word that is no decision', '"approve"'],
  ['a decision that nobody knows', '{"decision":"approved"}'],
  ['an object without a decision', '{}'],
])('a call that is answered by %s does not run', async (_, answer) => {
  expect(await judged(answer)).toEqual({
    block: { block: true, reason: 'Nobody approved this call.' },
    input: { command: 'ls' },
  });
});

test('a call with edited arguments runs with nothing of the old ones', async () => {
  expect(await judged('{"decision":"edit","input":{"path":"."}}')).toEqual({ block: undefined, input: { path: '.' } });
});

import { fc } from '../../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message } from '../../../../contract/agent-messages.ts';
import { summaryMessage } from '../../../../contract/compaction.ts';
import { cutOf } from '../compaction/cut.ts';
import { convertMessages as toMessages } from './anthropic-request.ts';
import { convertMessages as toCompletions } from './openai-request.ts';
import { convertMessages as toResponses } from './responses-request.ts';

/** What became of a call: its result, one of the gate (rejected, expired), one of unknown outcome, or none (the run was cancelled). */
const FATES = ['result', 'rejected', 'expired', 'unknown', 'none'] as const;

const step = fc.record({
  text: fc.constantFrom('', 'I look.', 'I look again, and write what I see.'),
  fates: fc.array(fc.constantFrom(...FATES), { maxLength: 4 }),
  /** Of parallel calls, the results come in any order. */
  isReversed: fc.boolean(),
  stopReason: fc.constantFrom('tool-use' as const, 'tool-use' as const, 'aborted' as const, 'error' as const),
});
const run = fc.record({ input: fc.constantFrom('go on', 'look', ''), steps: fc.array(step, { maxLength: 4 }) });
type Run = typeof run extends fc.Arbitrary<infer T> ? T : never;

function conversationOf(runs: readonly Run[]): Message[] {
  let calls = 0;
  return runs.flatMap(({ input, steps }): Message[] => [
    { role: 'user', content: input, timestamp: 0 },
    ...steps.flatMap(({ text, fates, isReversed, stopReason }): Message[] => {
      const made = fates.map((fate) => ({ fate, id: `tc_${String(calls++)}` }));
      const answer: AssistantMessage = {
        role: 'assistant',
        content: [
          { type: 'text', text },
          ...made.map(({ id }) => ({ type: 'tool-call' as const, id, name: 'look', arguments: {} })),
        ],
        stopReason,
        timestamp: 0,
      };
      const results = made.flatMap(({ fate, id }): Message[] =>
        fate === 'none'
          ? []
          : [
              {
                role: 'tool-result',
                toolCallId: id,
                toolName: 'look',
                content: [{ type: 'text', text: fate }],
                isError: fate !== 'result',
                timestamp: 0,
              },
            ],
      );
      return [answer, ...(isReversed ? results.toReversed() : results)];
    }),
  ]);
}

/** The conversation, or what a compaction leaves of it. */
const conversations = fc
  .record({ runs: fc.array(run, { minLength: 1, maxLength: 5 }), keepTokens: fc.option(fc.nat(60)) })
  .map(({ runs, keepTokens }) => {
    const messages = conversationOf(runs);
    if (keepTokens === null) return messages;
    const at = cutOf(messages, { beginsWithSummary: false, keepTokens, turnTokens: keepTokens });
    return at === null ? messages : [summaryMessage('They looked.', 0), ...messages.slice(at)];
  });

type Wire = Readonly<Record<string, unknown>>;
const listOf = (value: unknown): Wire[] => (Array.isArray(value) ? (value as Wire[]) : []);
const asked = (api: string) => ({ provider: 'vendor', api });

describe('whatever became of its runs, a conversation on the wire answers every call once', () => {
  it('in Chat Completions: right behind the message that made it', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const wire = toCompletions(messages, asked('openai-completions')) as Wire[];
        const left = [...wire];
        for (let message = left.shift(); message !== undefined; message = left.shift()) {
          expect(message['role']).not.toBe('tool');
          const calls = listOf(message['tool_calls']).map(({ id }) => id);
          const results = left.splice(0, calls.length);
          expect(results.map((result) => [result['role'], result['tool_call_id']])).toEqual(
            calls.map((id) => ['tool', id]),
          );
        }
      }),
    );
  });

  it('in Messages: at the beginning of the user’s next message, and the roles take turns', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const wire = toMessages(messages, asked('anthropic-messages')) as unknown as Wire[];
        expect(wire[0]?.['role']).toBe('user');
        wire.forEach(({ role, content }, index) => {
          expect(role).not.toBe(wire[index + 1]?.['role']);
          const calls = listOf(content).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
          const next = listOf(wire[index + 1]?.['content']);
          const results = next.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : []));
          if (role === 'assistant') expect(results).toEqual(calls);
          expect(next.slice(0, results.length).every(({ type }) => type === 'tool_result')).toBe(true);
        });
      }),
    );
  });

  it('in Responses: after it', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const open: unknown[] = [];
        for (const { type, call_id: id } of toResponses(messages, asked('openai-responses')) as unknown as Wire[]) {
          if (type === 'function_call') open.push(id);
          if (type === 'function_call_output') expect(open.splice(open.indexOf(id), 1)).toEqual([id]);
        }
        expect(open).toEqual([]);
      }),
    );
  });
});

import { fc } from '../../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from '../../../../contract/agent-messages.ts';
import { summaryMessage } from '../../../../contract/compaction.ts';
import { cutOf, type CutWish } from './cut.ts';

const text = (tokens: number): string => 'word'.repeat(tokens);
const user = (tokens = 10): UserMessage => ({ role: 'user', content: text(tokens), timestamp: 0 });
const said = (tokens = 10, calls: readonly string[] = []): AssistantMessage => ({
  role: 'assistant',
  content: [
    { type: 'text', text: text(tokens) },
    ...calls.map((id) => ({ type: 'tool-call' as const, id, name: 'look', arguments: {} })),
  ],
  timestamp: 0,
});
const result = (toolCallId: string, tokens = 10): ToolResultMessage => ({
  role: 'tool-result',
  toolCallId,
  toolName: 'look',
  content: [{ type: 'text', text: text(tokens) }],
  isError: false,
  timestamp: 0,
});
const wish = (more: Partial<CutWish> = {}): CutWish => ({ beginsWithSummary: false, keepTokens: 50, ...more });

describe('a cut', () => {
  const turns = [user(), said(), user(), said(), user(), said(), user(), said()];

  it('keeps about so much of what is newest', () => {
    expect(cutOf(turns, wish({ keepTokens: 60 }))).toBe(4);
    expect(cutOf(turns, wish({ keepTokens: 30 }))).toBe(6);
  });

  it('keeps the newest turn, however long it is', () => {
    expect(cutOf([...turns, user(500), said(500)], wish())).toBe(8);
  });

  it('is not made when all is recent, or too little is before it', () => {
    expect(cutOf(turns, wish({ keepTokens: 1_000 }))).toBeNull();
    expect(cutOf([user(500), said(), user(), said()], wish({ keepTokens: 30 }))).toBeNull();
    expect(cutOf([], wish())).toBeNull();
  });

  it('does not count a summary for what is recent, but takes it up into the next', () => {
    const compacted = [summaryMessage(text(500), 0), ...turns.slice(4)];
    expect(cutOf(compacted, wish({ beginsWithSummary: true, keepTokens: 60 }))).toBeNull();
    expect(cutOf([...compacted, user(), said()], wish({ beginsWithSummary: true, keepTokens: 60 }))).toBe(3);
  });

  it('is inside a turn only when that is too long', () => {
    const long = [user(), said(30, ['a']), result('a', 30), said(30, ['b', 'c']), result('b'), result('c'), said(30)];
    expect(cutOf(long, wish({ keepTokens: 40 }))).toBeNull();
    expect(cutOf(long, wish({ keepTokens: 40, turnTokens: 100 }))).toBe(6);
    expect(cutOf(long, wish({ keepTokens: 5, turnTokens: 100 }))).toBe(6);
    expect(cutOf([...turns, ...long], wish({ keepTokens: 40, turnTokens: 100 }))).toBe(14);
    expect(cutOf([...turns, ...long], wish({ keepTokens: 40, turnTokens: 1_000 }))).toBe(8);
  });
});

/** Turns in which calls are answered in any order, late (behind a user's word that came between), or never. */
const turn = fc.record({
  words: fc.integer({ min: 1, max: 80 }),
  steps: fc.array(
    fc.record({
      words: fc.integer({ min: 0, max: 80 }),
      answers: fc.array(fc.constantFrom('now', 'late', 'never'), { maxLength: 3 }),
    }),
    { maxLength: 5 },
  ),
});

function messagesOf(turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[]): Message[] {
  let ids = 0;
  return turns.flatMap(({ words, steps }) => [
    user(words),
    ...steps.flatMap(({ words: length, answers }) => {
      const calls = answers.map((when) => ({ id: String(ids++), when }));
      const of = (wanted: string): Message[] =>
        calls.filter(({ when }) => when === wanted).map(({ id }) => result(id, length));
      const late = of('late');
      return [
        said(
          length,
          calls.map(({ id }) => id),
        ),
        ...of('now'),
        ...(late.length > 0 ? [user(1), ...late] : []),
      ];
    }),
  ]);
}

const wishes = fc.record(
  { keepTokens: fc.integer({ min: 0, max: 400 }), turnTokens: fc.integer({ min: 0, max: 800 }) },
  { requiredKeys: ['keepTokens'] },
);

describe('any conversation', () => {
  it('is cut so that no result is parted from its call, and something is summarised and kept', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), wishes, (turns, more) => {
        const messages = messagesOf(turns);
        const at = cutOf(messages, { beginsWithSummary: false, ...more });
        if (at === null) return;
        expect(at).toBeGreaterThanOrEqual(3);
        expect(at).toBeLessThan(messages.length);
        const kept = messages.slice(at);
        const calls = new Set(kept.flatMap((message) => callsOf(message)));
        for (const message of kept) if (message.role === 'tool-result') expect(calls).toContain(message.toolCallId);
        const roles = more.turnTokens === undefined ? ['user'] : ['user', 'assistant'];
        expect(roles).toContain(kept[0]?.role);
      }),
    );
  });

  it('is not cut again once it is cut', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), wishes, fc.integer({ min: 1, max: 200 }), (turns, more, tokens) => {
        const messages = messagesOf(turns);
        const at = cutOf(messages, { beginsWithSummary: false, ...more });
        if (at === null) return;
        const compacted = [summaryMessage(text(tokens), 0), ...messages.slice(at)];
        expect(cutOf(compacted, { beginsWithSummary: true, ...more })).toBeNull();
      }),
    );
  });
});

function callsOf(message: Message): string[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []));
}

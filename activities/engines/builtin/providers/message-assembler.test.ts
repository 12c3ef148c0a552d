import { fc } from '../../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { MessageAssembler } from './message-assembler.ts';
import type { ProviderEvent } from './provider.ts';

type Step = { type: 'text' | 'thinking'; piece: string } | { type: 'call'; index: number; piece: string };

/** Any UTF-16, so that pieces may begin and end inside a surrogate pair. */
const piece = fc
  .array(fc.constantFrom('a', ' ', '\u0000', 'é', '\ud83c', '\udf0d', '"', '{'), { maxLength: 6 })
  .map((units) => units.join(''));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constantFrom('text' as const, 'thinking' as const), piece }),
  fc.record({ type: fc.constant('call' as const), index: fc.integer({ min: 0, max: 3 }), piece }),
);

function play(steps: readonly Step[]): { assembler: MessageAssembler; events: ProviderEvent[] } {
  const assembler = new MessageAssembler((n) => `tc_${String(n)}`);
  const events = steps.flatMap((at) =>
    at.type === 'call'
      ? assembler.call({ index: at.index, id: `id${String(at.index)}`, name: '', args: at.piece })
      : assembler.say(at.type, at.piece),
  );
  return { assembler, events: [...events, ...assembler.close(true)] };
}

describe('whatever a stream says, in whatever pieces', () => {
  it('the content is what the deltas said, each of them well-formed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { assembler, events } = play(steps);
        const said = new Map<number, string>();
        for (const event of events) {
          if (!('delta' in event)) continue;
          expect(event.delta).not.toBe('');
          expect(event.delta.isWellFormed()).toBe(true);
          said.set(event.contentIndex, (said.get(event.contentIndex) ?? '') + event.delta);
        }
        assembler.content(true).forEach((block, index) => {
          if (block.type === 'text') expect(said.get(index) ?? '').toBe(block.text);
          if (block.type === 'thinking') expect(said.get(index) ?? '').toBe(block.thinking);
        });
        const calls = steps.filter((at) => at.type === 'call');
        for (const index of new Set(calls.map((at) => at.index))) {
          const sent = calls
            .filter((at) => at.index === index)
            .map((at) => at.piece)
            .join('');
          if (sent !== '') expect([...said.values()]).toContain(sent.toWellFormed());
        }
      }),
    );
  });

  it('each block begins once, ends once, and prose is open one block at a time', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { events } = play(steps);
        const open = new Map<number, string>();
        const closed = new Set<number>();
        for (const event of events) {
          if (!('contentIndex' in event)) continue;
          const { type, contentIndex } = event;
          const kind = type.replace(/-(start|delta|end)$/, '');
          if (type.endsWith('-start')) {
            expect(open.has(contentIndex) || closed.has(contentIndex)).toBe(false);
            expect([...open.values()].every((other) => other === 'tool-call')).toBe(true);
            open.set(contentIndex, kind);
          } else {
            expect(open.get(contentIndex)).toBe(kind);
            if (type.endsWith('-end')) {
              open.delete(contentIndex);
              closed.add(contentIndex);
            }
          }
        }
        expect(open.size).toBe(0);
      }),
    );
  });
});

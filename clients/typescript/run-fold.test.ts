import { createHash } from 'node:crypto';
import { fc } from '../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { DeliveredEvent } from '../../contract/canonical.ts';
import { digestBytes, foldRun, RunFold } from './run-fold.ts';
import { finalText, messageTexts } from './run-text.ts';
import { ThreadLog } from './thread-log-testkit.ts';

const log = new ThreadLog('thr_1', []);

function said(index: number, more: Partial<Record<string, unknown>> = {}): DeliveredEvent {
  return { ...log.event(index, `text ${String(index)}`), ...more } as unknown as DeliveredEvent;
}

const DELIVERIES = [
  said(0),
  said(1),
  said(2),
  said(1, { revision: 1, text: 'second', deliverySeq: 4 }),
  said(2, { revision: 1, retracted: true, deliverySeq: 5 }),
  said(3, { deliverySeq: 6, runId: 'run_2' }),
];

describe('a run’s fold', () => {
  it('keeps the highest revision of each event, without what was withdrawn and what is another run’s', () => {
    const events = foldRun(DELIVERIES, 'run_1');
    expect(events.map((event) => ('text' in event ? event.text : null))).toEqual(['text 0', 'second']);
  });

  it('is the same in whatever order and however often its deliveries come', () => {
    const known = foldRun(DELIVERIES, 'run_1');
    const some = fc.shuffledSubarray([...DELIVERIES, ...DELIVERIES], { minLength: 2 * DELIVERIES.length });
    fc.assert(
      fc.property(some, (deliveries) => {
        expect(foldRun(deliveries, 'run_1')).toEqual(known);
      }),
    );
  });

  it('says whether a delivery was news', () => {
    const fold = new RunFold();
    expect(DELIVERIES.slice(0, 5).map((event) => fold.add(event))).toEqual([true, true, true, true, true]);
    expect(fold.add(said(1))).toBe(false);
  });

  it('is digested as the protocol says: canonical JSON and a newline for each, without the delivery’s fields', () => {
    const lines = foldRun(DELIVERIES, 'run_1').map(
      ({ deliverySeq: _d, revision: _r, ...event }) => `${canonicalJson(event)}\n`,
    );
    const expected = createHash('sha256').update(lines.join('')).digest('hex');
    expect(
      createHash('sha256')
        .update(digestBytes(foldRun(DELIVERIES, 'run_1')))
        .digest('hex'),
    ).toBe(expected);
  });
});

describe('a run’s text', () => {
  it('is what its messages were completed with, else their deltas, without those of sub-agents', () => {
    const events = [
      said(0, { messageId: 'a', text: 'one ' }),
      said(1, { messageId: 'b', text: 'hidden', identity: { provider: 'test', nativeParentSessionId: 'p' } }),
      said(2, { messageId: 'a', text: 'two' }),
      said(3, { messageId: 'c', text: 'draft' }),
      said(4, { messageId: 'c', kind: 'message.completed', text: 'final' }),
      said(5, { messageId: 'd', kind: 'message.started' }),
    ];
    expect(messageTexts(events)).toEqual([
      { messageId: 'a', text: 'one two' },
      { messageId: 'c', text: 'final' },
      { messageId: 'd', text: '' },
    ]);
    expect(finalText(events)).toBe('final');
    expect(finalText([])).toBe('');
  });
});

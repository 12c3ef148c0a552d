import { fc } from '../contract/property-testkit.ts';
import { expect, test } from 'vitest';
import { encodeDelivery } from '../contract/encoders/canonical.ts';
import { sseCursor } from '../contract/encoders/sse.ts';
import type { DeliveryRow } from '../infra/postgres/delivery.ts';
import { bytesAfter, DeliveryChunk } from './delivery-chunk.ts';
import { deliveryFilter, matches } from './delivery-filter.ts';

const KINDS = ['message.delta', 'tool.started', 'harness.warning'];

const rowsOf = (first: number, facts: readonly [string, string, boolean][]): DeliveryRow[] =>
  facts.map(([kind, run_id, isComplete], i) => ({
    delivery_seq: first + i,
    run_id,
    kind,
    revision: 0,
    retracted: false,
    record: isComplete ? 'complete' : 'event',
    body: JSON.stringify({ kind, text: `id: ${String(first + i)}\n\n🌊` }),
  }));

const facts = fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom('run_a', 'run_b'), fc.boolean());
const filters = fc.record({
  kinds: fc.option(fc.subarray(KINDS, { minLength: 1 })),
  runId: fc.option(fc.constantFrom('run_a', 'run_b', 'run_c')),
});

test('a selection is what a reader would have picked row by row, and leaves the cursor at the end', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(facts, { minLength: 1 }),
      filters,
      fc.nat(30),
      (first, list, f, skip) => {
        const rows = rowsOf(first, list);
        const last = first + rows.length - 1;
        const after = Math.min(first - 1 + skip, last - 1);
        const filter = deliveryFilter(f.kinds, f.runId);
        const shown = rows.filter((row) => row.delivery_seq > after && (filter === null || matches(filter, row)));
        const isLastShown = shown.at(-1)?.delivery_seq === last;
        const expected = shown.map((row) => encodeDelivery('thr', row)).join('') + (isLastShown ? '' : sseCursor(last));
        const chunk = new DeliveryChunk('thr', rows);
        for (let twice = 0; twice < 2; twice++) {
          const { bytes, count } = chunk.select(filter, after);
          expect(bytes.toString()).toBe(expected);
          expect(count).toBe(shown.length);
        }
      },
    ),
  );
});

test('what is sent to subscribers that filter alike is made once', () => {
  const chunk = new DeliveryChunk(
    'thr',
    rowsOf(5, [
      ['tool.started', 'run_a', false],
      ['message.delta', 'run_a', false],
    ]),
  );
  const first = chunk.select(deliveryFilter(['tool.started', 'message.delta'], null), 4);
  expect(chunk.select(deliveryFilter(['message.delta', 'tool.started'], null), 0)).toBe(first);
  expect(chunk.select(null, 4).bytes.buffer).toBe(chunk.select(null, 2).bytes.buffer);
});

test('ready bytes are cut at a frame, whatever the frames say', () => {
  const rows = rowsOf(
    9,
    Array.from({ length: 4 }, () => ['message.delta', 'run_a', false] as [string, string, boolean]),
  );
  const frames = rows.map((row) => encodeDelivery('thr', row));
  const bytes = Buffer.from(frames.join(''));
  for (let seq = 9; seq <= 12; seq++) expect(bytesAfter(bytes, seq)?.toString()).toBe(frames.slice(seq - 8).join(''));
  expect(bytesAfter(bytes, 8)).toBeNull();
  expect(bytesAfter(bytes, 1)).toBeNull();
});

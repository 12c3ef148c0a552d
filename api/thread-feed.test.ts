import { fc } from '../contract/property-testkit.ts';
import { expect, test } from 'vitest';
import type { DeliveryRow } from '../infra/postgres/delivery.ts';
import type { DeliveryChunk } from './delivery-chunk.ts';
import { ThreadFeed } from './thread-feed.ts';

const rows = (after: number, count: number): DeliveryRow[] =>
  Array.from({ length: count }, (_, i) => ({
    delivery_seq: after + 1 + i,
    run_id: 'run',
    record: 'event',
    kind: 'harness.warning',
    revision: 0,
    retracted: false,
    body: '{"kind":"harness.warning"}',
  }));

class Reader {
  position: number;
  readonly seen: number[] = [];
  constructor(position: number) {
    this.position = position;
  }
  deliver(chunk: DeliveryChunk): void {
    const text = chunk.select(null, this.position).bytes.toString();
    this.seen.push(...[...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));
    this.position = chunk.lastSeq;
  }
}

test('whenever readers join, behind or ahead, each sees every delivery after its position once and in order', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ do: fc.constant('join' as const), offset: fc.integer({ min: -12, max: 6 }) }),
    fc.record({ do: fc.constant('trim' as const), afterMs: fc.integer({ min: 0, max: 12_000 }) }),
  );
  fc.assert(
    fc.property(fc.nat(20), fc.array(step, { maxLength: 40 }), (start, steps) => {
      const feed = new ThreadFeed('thr', start);
      const joined: { reader: Reader; from: number }[] = [];
      let now = 0;
      for (const next of steps) {
        if (next.do === 'publish') feed.publish(rows(feed.position, next.count), (now += 1_000));
        if (next.do === 'trim') feed.trim(now + next.afterMs);
        if (next.do === 'join') {
          const from = Math.max(0, feed.position + next.offset);
          const reader = new Reader(from);
          if (feed.join(reader)) joined.push({ reader, from });
          else expect(from).toBeLessThan(feed.position);
        }
      }
      feed.publish(rows(feed.position, 10), now);
      for (const { reader, from } of joined) {
        expect(reader.seen).toEqual(rows(from, Math.max(0, feed.position - from)).map((row) => row.delivery_seq));
      }
    }),
  );
});

test('a reader a little behind a fast writer meets the feed; an idle thread keeps nothing', () => {
  const feed = new ThreadFeed('thr', 0);
  for (let i = 0; i < 50; i++) feed.publish(rows(feed.position, 10), i);
  const behind = new Reader(300);
  expect(feed.join(behind)).toBe(true);
  expect(behind.seen).toHaveLength(200);
  feed.trim(20_000);
  expect(feed.join(new Reader(499))).toBe(false);
  expect(feed.join(new Reader(500))).toBe(true);
});

test('who leaves is told nothing more', () => {
  const feed = new ThreadFeed('thr', 0);
  const reader = new Reader(0);
  feed.join(reader);
  feed.leave(reader);
  feed.publish(rows(0, 1), 0);
  expect(reader.seen).toEqual([]);
});

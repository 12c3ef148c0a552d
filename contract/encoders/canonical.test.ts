import { fc } from '../property-testkit.ts';
import { expect, test } from 'vitest';
import {
  DRAIN_FRAME,
  encodeCaughtUp,
  encodeDelivery,
  encodeDeliveryItem,
  HEARTBEAT_FRAME,
  type StoredDelivery,
} from './canonical.ts';
import { SSE_OPEN, SSE_PING, sseCursor } from './sse.ts';

const THREAD = 'thr_01890a5d-ac96-774b-bcce-b302099a8057';
const row = (over: Partial<StoredDelivery> = {}): StoredDelivery => ({
  delivery_seq: 7,
  record: 'event',
  revision: 0,
  retracted: false,
  body: '{"kind":"message.delta","text":"hi"}',
  ...over,
});

test('the bytes of every frame', async () => {
  const complete = row({ record: 'complete', body: '{"runId":"run_1","digest":"abc"}', delivery_seq: 9 });
  const frames = [
    SSE_OPEN,
    encodeDelivery(THREAD, row()),
    encodeDelivery(THREAD, row({ delivery_seq: 8, revision: 2, retracted: true })),
    sseCursor(8),
    encodeDelivery(THREAD, complete),
    encodeCaughtUp(THREAD, 9),
    SSE_PING,
    HEARTBEAT_FRAME,
    DRAIN_FRAME,
  ];
  await expect(frames.join('')).toMatchFileSnapshot('__golden__/canonical.sse');
  const items = [row(), row({ revision: 2, retracted: true }), complete].map(encodeDeliveryItem);
  await expect(`${items.join('\n')}\n`).toMatchFileSnapshot('__golden__/canonical-items.ndjson');
});

/** How the HTML standard reads a stream: lines, then blocks. */
function readFrames(text: string): { id?: string; event?: string; data?: string }[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => Object.fromEntries(block.split(/\r\n|\r|\n/).map((line) => line.split(/: (.*)/s).slice(0, 2))));
}

test('whatever an event says, it is one frame with its own id, and the same event comes out', () => {
  const nasty = fc.constantFrom(
    '\n\nid: 99\n\n',
    '\r',
    '\r\nevent: drain\r\n',
    '\u2028',
    '\ud83d',
    '\u0000',
    '"}',
    'a\\"',
  );
  const text = fc.oneof(fc.string({ unit: 'binary' }), nasty);
  const body = fc.record({ kind: text, payload: fc.jsonValue(), text });
  const indent = fc.constantFrom(undefined, 2, '\t', '\r\n');
  fc.assert(
    fc.property(body, indent, fc.nat(), fc.boolean(), (event, space, revision, retracted) => {
      const stored = row({ body: JSON.stringify(event, null, space), revision, retracted });
      const frames = readFrames(encodeDelivery(THREAD, stored));
      expect(frames).toHaveLength(1);
      expect(frames[0]).toMatchObject({ id: '7', event: 'canonical' });
      const delivered = { ...event, deliverySeq: 7, revision, ...(retracted ? { retracted: true } : {}) };
      // what JSON keeps of a value is what is compared
      const same = JSON.parse(JSON.stringify(delivered)) as unknown;
      expect(JSON.parse(frames[0]?.data ?? '')).toEqual({ threadId: THREAD, event: same });
      expect(JSON.parse(encodeDeliveryItem(stored))).toMatchObject({ delivery_seq: 7, revision, event: same });
    }),
  );
});

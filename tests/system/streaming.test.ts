import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import type pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { writeReplaySegments } from '../../infra/postgres/replay-segment.ts';
import { sequence, type SseClient } from '../fixtures/sse-client.ts';
import { useStreaming } from '../fixtures/streaming.ts';
import { appendCompletion, appendFrames } from '../fixtures/threads.ts';

const world = useStreaming();

test('a stream replays the log, says that it has caught up, and goes on live', async () => {
  const thread = await world.threadWith(3);
  const client = await world.open(world.gateway.events(thread.threadId));
  await client.until((c) => c.named('caught-up').length === 1);
  await world.append(thread, 2);
  await appendCompletion(world.pool, thread);
  await client.untilId(6);
  expect(client.seqs).toEqual(sequence(6));
  expect(client.frames.map(({ event }) => event)).toEqual([
    undefined,
    'canonical',
    'canonical',
    'canonical',
    'caught-up',
    'canonical',
    'canonical',
    'canonical-complete',
  ]);
  expect(JSON.parse(client.named('caught-up')[0]?.data ?? '')).toEqual({ threadId: thread.threadId, head: 3 });
  expect(client.deliveries[5]?.complete).toMatchObject({ runId: thread.runId, deliverySeq: 6 });
});

test('a frame that is no delivery never moves the cursor', async () => {
  const quick = await world.anotherGateway({ settings: { heartbeatMs: 200 } });
  const thread = await world.threadWith(6);
  const client = await world.open(quick.events(thread.threadId, 'heartbeat=event'));
  await client.until((c) => c.named('heartbeat').length >= 2 && c.named('caught-up').length === 1);
  await quick.hub.drain(0);
  await client.untilClosed();
  expect(client.named('drain')).toHaveLength(1);
  expect(client.lastEventId).toBe('6');
  expect(client.frames.flatMap(({ id }) => id ?? [])).toEqual(sequence(6).map(String));

  await world.append(thread, 1);
  const back = await world.open(world.gateway.events(thread.threadId), { 'last-event-id': client.lastEventId });
  await back.untilId(7);
  expect(back.seqs).toEqual([7]);
});

test('the cursor is the larger of the header and the query, and tail=1 starts at the head', async () => {
  const thread = await world.threadWith(60);
  const firstSeq = async (query: string, headers: Record<string, string> = {}): Promise<number | undefined> => {
    const client = await world.open(world.gateway.events(thread.threadId, query), headers);
    await client.until((c) => c.named('caught-up').length === 1);
    return client.seqs[0];
  };
  expect(await firstSeq('', { 'last-event-id': '40' })).toBe(41);
  expect(await firstSeq('after=40')).toBe(41);
  expect(await firstSeq('after=40', { 'last-event-id': '55' })).toBe(56);
  expect(await firstSeq('after=55', { 'last-event-id': '40' })).toBe(56);
  expect(await firstSeq('after=060')).toBeUndefined();
  expect(await firstSeq('tail=1')).toBeUndefined();
  expect(await firstSeq('tail=1', { 'last-event-id': '58' })).toBe(59);
});

test('a client that started at the tail comes back to where it started, not to the new head', async () => {
  const thread = await world.threadWith(5);
  const client = await world.open(world.gateway.events(thread.threadId, 'tail=1'));
  await client.until((c) => c.named('caught-up').length === 1);
  expect(client.seqs).toEqual([]);
  expect(client.lastEventId).toBe('5');
});

test('a cursor that cannot be read is refused, never taken for the start', async () => {
  const thread = await world.threadWith(1);
  const ask = async (query: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const response = await fetch(world.gateway.events(thread.threadId, query), { headers });
    return { status: response.status, ...((await response.json()) as object) };
  };
  const refused = { status: 400, code: 'cursor_invalid' };
  for (const value of ['', '-5', '1e3', 'abc', '0x10', '1.0', '%201', '1'.repeat(17), '1&after=1']) {
    expect(await ask(`after=${value}`)).toMatchObject({ ...refused, parameter: 'after' });
  }
  for (const value of ['', 'abc', '1, 1', '-1']) {
    expect(await ask('', { 'last-event-id': value })).toMatchObject({ ...refused, parameter: 'Last-Event-ID' });
  }
  for (const value of ['2', '9999999999999999']) {
    expect(await ask(`after=${value}`)).toMatchObject({ status: 416, code: 'cursor_beyond_head', head: 1 });
  }
});

/** Stands between a gateway and its database: `after` runs when a query has its rows and before the gateway has them. */
function afterQuery(
  name: string,
  after: (rows: { delivery_seq?: number }[]) => Promise<void>,
): (pool: pg.Pool) => pg.Pool {
  return (pool) => {
    const query = async (config: pg.QueryConfig): Promise<pg.QueryResult> => {
      const result = await pool.query(config);
      if (config.name === name) await after(result.rows as { delivery_seq?: number }[]);
      return result;
    };
    return { query } as unknown as pg.Pool;
  };
}

test('under a fast writer every stream shows every delivery once and in order, wherever it began', async () => {
  let head = 2_000;
  let slowed = 0;
  // the page that reaches the end of the log comes late: the live feed is past it when the stream wants to join
  const around = afterQuery('delivery-page', async (rows) => {
    if ((rows.at(-1)?.delivery_seq ?? 0) < head - 50 || slowed++ % 3 !== 0) return;
    await sleep(300);
  });
  const gateways = [world.gateway, await world.anotherGateway({ around }), await world.anotherGateway({ around })];
  const thread = await world.threadWith(head);
  const startedAt = performance.now();
  const writer = (async () => {
    while (head < 2_800) {
      const due = 2_000 + Math.floor((performance.now() - startedAt) / 5); // 200 events/s, whatever the machine is at
      if (due > head) head = await world.append(thread, due - head);
      if (head > 2_300 && head < 2_320) await writeReplaySegments(world.pool, thread.threadId);
      await sleep(4);
    }
  })();
  const streams: { readonly client: SseClient; readonly after: number }[] = [];
  for (let i = 0; i < 50; i++) {
    await sleep(Math.random() * 120);
    const after = i % 3 === 0 ? Math.floor(Math.random() * head) : 0;
    const events = gateways[i % gateways.length]?.events(thread.threadId, `after=${String(after)}`) ?? '';
    streams.push({ client: await world.open(events), after });
  }
  await writer;
  head = await world.append(thread, 1);
  for (const { client, after } of streams) {
    await client.untilId(head);
    expect(client.seqs).toEqual(sequence(head, after + 1));
    expect(client.named('caught-up')).toHaveLength(1);
  }
  expect(slowed).toBeGreaterThan(5);
}, 60_000);

test('a delivery that is stored between the look at the head and the start of following is not waited for', async () => {
  const thread = await world.threadWith(1);
  let isFirst = true;
  const around = afterQuery('thread-of-tenant', async () => {
    if (!isFirst) return;
    isFirst = false;
    await world.append(thread, 1);
    await sleep(200); // its wake-up has come and found nobody
  });
  const gateway = await world.anotherGateway({ around, settings: { pollMs: 60_000 } });
  const client = await world.open(gateway.events(thread.threadId, 'after=1'));
  await client.untilId(2, 1_000);
  expect(client.seqs).toEqual([2]);
});

test('a stream has caught up only with all that was stored when it was opened, even if its gateway had not heard of it', async () => {
  const deaf = new URL(world.databaseUrl);
  deaf.port = '1';
  const gateway = await world.anotherGateway({ listenUrl: deaf.href, settings: { pollMs: 60_000 } });
  const thread = await world.threadWith(3);
  const first = await world.open(gateway.events(thread.threadId));
  await first.until((c) => c.named('caught-up').length === 1);
  await world.append(thread, 2);
  const second = await world.open(gateway.events(thread.threadId, 'after=3'));
  await second.until((c) => c.named('caught-up').length === 1);
  expect(second.seqs).toEqual([4, 5]);
});

test('a delivery is never shown while an earlier one can still commit, and a rollback leaves no hole', async () => {
  const thread = await world.threadWith(1);
  const elsewhere = await world.threadWith(1);
  const client = await world.open(world.gateway.events(thread.threadId));
  await client.untilId(1);

  const first = await world.transaction();
  await appendFrames(first, thread.runId, [{ type: 'run.warning', code: 'test', message: 'first' }]);
  let isSecondStored = false;
  const second = world.append(thread, 1).then((seq) => {
    isSecondStored = true;
    return seq;
  });
  const startedAt = performance.now();
  await world.append(elsewhere, 1);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await sleep(2_000);
  expect(isSecondStored).toBe(false);
  expect(client.seqs).toEqual([1]);
  await first.query('commit');
  expect(await second).toBe(3);
  await client.untilId(3);

  const third = await world.transaction();
  await appendFrames(third, thread.runId, [{ type: 'run.warning', code: 'test', message: 'taken back' }]);
  const fourth = world.append(thread, 1);
  await sleep(100);
  await third.query('rollback');
  expect(await fourth).toBe(4);
  await client.untilId(4);
  expect(client.seqs).toEqual(sequence(4));
  expect(client.deliveries.map(({ event }) => event?.['message'])).toEqual(['0', 'first', '0', '0']);
}, 20_000);

test('a browser’s EventSource that loses its connection resumes with nothing lost and nothing twice', async () => {
  const breaking = await world.anotherGateway();
  const thread = await world.threadWith(3);
  const seen: number[] = [];
  const source = new EventSource(breaking.events(thread.threadId));
  onTestFinished(() => source.close());
  const untilSeen = async (count: number): Promise<void> => {
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
  };
  source.addEventListener('canonical', ({ data }) => {
    seen.push((JSON.parse(String(data)) as { event: { deliverySeq: number } }).event.deliverySeq);
  });
  await untilSeen(3);
  for (const head of [5, 7]) {
    breaking.server.closeAllConnections();
    await world.append(thread, 2);
    await untilSeen(head);
  }
  expect(seen).toEqual(sequence(7));
}, 20_000);

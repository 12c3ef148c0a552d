import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { writeReplaySegments } from '../../infra/postgres/replay-segment.ts';
import { forkStreamGateway } from '../fixtures/gateway-process.ts';
import { sequence, type SseClient } from '../fixtures/sse-client.ts';
import { useStreaming } from '../fixtures/streaming.ts';

const world = useStreaming();

/** A path to the database that can be swallowed up without a word. */
async function pathTo(databaseUrl: string): Promise<{ url: string; blackhole(): void }> {
  const target = new URL(databaseUrl);
  const { port, hostname } = target;
  const sockets: Socket[] = [];
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) {
      sockets.push(socket);
      socket.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  });
  target.port = String((relay.address() as AddressInfo).port);
  return {
    url: target.href,
    blackhole() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

async function terminateListeners(): Promise<number> {
  const { rowCount } = await world.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tidemark-listener' and datname = current_database()`,
  );
  return rowCount ?? 0;
}

test('when the listening connection dies every stream goes on, one line says so, and wake-ups come back', async () => {
  const gateway = await world.anotherGateway();
  const unpolled = await world.anotherGateway({ settings: { pollMs: 60_000 } });
  const thread = await world.threadWith(0);
  const gateways = [gateway, gateway, gateway, unpolled];
  const streams = await Promise.all(gateways.map((one) => world.open(one.events(thread.threadId))));
  await Promise.all(streams.map((stream) => stream.until((c) => c.named('caught-up').length === 1)));
  expect(await terminateListeners()).toBeGreaterThanOrEqual(2);
  await world.append(thread, 10);
  await Promise.all(streams.map((stream) => stream.untilId(10, 2_000)));
  await world.append(thread, 10);
  await Promise.all(streams.map((stream) => stream.untilId(20, 2_000)));
  for (let head = 21; head <= 25; head++) {
    await world.append(thread, 1);
    await streams[3]?.untilId(head, 5_000); // no poll helps here: it listens again
  }
  await Promise.all(streams.map((stream) => stream.untilId(25)));
  for (const stream of streams) expect(stream.seqs).toEqual(sequence(25));
  for (const { hub, logged } of [gateway, unpolled]) {
    expect(hub.metrics().listen_lost).toBe(1);
    expect(logged.filter(({ msg }) => msg === 'listen connection lost')).toHaveLength(1);
  }
}, 30_000);

test('when the path of the listening connection swallows everything the poll serves the streams', async () => {
  const path = await pathTo(world.databaseUrl);
  const gateway = await world.anotherGateway({ listenUrl: path.url });
  const thread = await world.threadWith(1);
  const stream = await world.open(gateway.events(thread.threadId));
  await stream.untilId(1);
  path.blackhole();
  for (let head = 2; head <= 4; head++) {
    await world.append(thread, 1);
    await stream.untilId(head, 4_000); // stated: two seconds; the machine may be busy
  }
  expect(stream.seqs).toEqual(sequence(4));
}, 20_000);

test('while the database restarts streams stay open, replays wait, and all of it arrives', async () => {
  let isAway = false;
  const gateway = await world.anotherGateway({
    around: (pool) => ({
      query: (async (...args: unknown[]) => {
        if (isAway) throw Object.assign(new Error('terminating connection'), { code: '57P01' });
        return await (pool.query as (...all: unknown[]) => Promise<unknown>)(...args);
      }) as typeof pool.query,
    }),
  });
  const thread = await world.threadWith(5_000);
  const live = await world.open(gateway.events(thread.threadId, 'tail=1'));
  const replaying = await world.open(gateway.events(thread.threadId));
  isAway = true;
  await world.append(thread, 5);
  await sleep(400);
  isAway = false;
  await live.untilId(5_005);
  await replaying.untilId(5_005);
  expect(live.seqs).toEqual(sequence(5_005, 5_001));
  expect(replaying.seqs).toEqual(sequence(5_005));
}, 20_000);

test('a read of sealed history that the database breaks off is repeated', async () => {
  let reads = 0;
  const gateway = await world.anotherGateway({
    around: (pool) => ({
      query: (async (config: { name?: string }) => {
        const isSegmentRead = config.name === 'replay-segments-after';
        if (isSegmentRead && ++reads % 2 === 0) {
          throw Object.assign(new Error('terminating connection'), { code: '57P01' });
        }
        return await (pool.query as (...all: unknown[]) => Promise<unknown>)(config);
      }) as typeof pool.query,
    }),
  });
  const thread = await world.threadWith(3_000);
  await writeReplaySegments(world.pool, thread.threadId);
  const stream = await world.open(gateway.events(thread.threadId));
  await stream.untilId(3_000);
  expect(stream.seqs).toEqual(sequence(3_000));
  expect(reads).toBeGreaterThan(4);
}, 30_000);

test('a reader that stops is cut within its bound; the others notice nothing; it comes back and has everything', async () => {
  const maxUnsentBytes = 1024 * 1024;
  const gateway = await forkStreamGateway({ databaseUrl: world.databaseUrl, settings: { maxUnsentBytes } });
  const thread = await world.threadWith(10);
  const healthy = await Promise.all(sequence(5).map(() => world.open(gateway.events(thread.threadId))));
  const stalled = await world.open(gateway.events(thread.threadId));
  await Promise.all([...healthy, stalled].map((stream) => stream.until((c) => c.named('caught-up').length === 1)));
  stalled.stopReading();
  const before = await gateway.stats();
  const delaysMs: number[] = [];
  let grownBy = 0;
  let head = 10;
  for (let batch = 0; batch < 100; batch++) {
    head = await world.append(thread, 100, { padding: 'x'.repeat(2_048) });
    const storedAt = performance.now();
    await Promise.all(healthy.map((stream) => stream.untilId(head)));
    delaysMs.push(performance.now() - storedAt);
    if (batch % 10 !== 9) continue;
    const { rss, metrics } = await gateway.stats();
    grownBy = Math.max(grownBy, rss - before.rss);
    expect(metrics.buffered_bytes).toBeLessThan(maxUnsentBytes + 512 * 1024);
  }
  const after = await gateway.stats();
  expect(after.metrics).toMatchObject({ closed_slow: 1, subscribers: 5, buffered_bytes: 0 });
  expect(after.logged).toContainEqual(expect.objectContaining({ reason: 'slow', threadId: thread.threadId }));
  // 22 MB went by; what grew is the cut reader's bound and the garbage of five others
  expect(grownBy).toBeLessThan(64 * 1024 * 1024);
  expect(delaysMs.toSorted((a, b) => a - b)[95]).toBeLessThan(2_000);

  const resumed = await world.open(gateway.events(thread.threadId), { 'last-event-id': stalled.lastEventId });
  await resumed.untilId(head, 20_000);
  expect([...stalled.seqs, ...resumed.seqs]).toEqual(sequence(head));
}, 60_000);

test('a connection that takes nothing is destroyed within the limit, and pings do not pile up on it', async () => {
  const gateway = await world.anotherGateway({ settings: { stallMs: 1_000, heartbeatMs: 200 } });
  const thread = await world.threadWith(5);
  const frozen = await world.open(gateway.events(thread.threadId));
  const watching = await world.open(gateway.events(thread.threadId));
  await Promise.all([frozen, watching].map((stream) => stream.untilId(5)));
  frozen.stopReading();
  let head = 0;
  for (let i = 0; i < 40 && gateway.hub.metrics().closed_stalled === 0; i++) {
    head = await world.append(thread, 100, { padding: 'x'.repeat(2_048) });
    // far below the bound on bytes: once something waits, only time can cut it
    if (gateway.hub.metrics().buffered_bytes > 0) break;
  }
  await watching.untilId(head);
  const waitingBytes = gateway.hub.metrics().buffered_bytes;
  expect(waitingBytes).toBeGreaterThan(0);
  await sleep(600);
  expect(gateway.hub.metrics().buffered_bytes).toBeLessThanOrEqual(waitingBytes);
  await expect
    .poll(() => gateway.hub.metrics(), { timeout: 3_000 })
    .toMatchObject({ subscribers: 1, buffered_bytes: 0, closed_stalled: 1, closed_slow: 0 });
  expect(gateway.logged).toContainEqual(expect.objectContaining({ reason: 'stalled', threadId: thread.threadId }));
  const resumed = await world.open(gateway.events(thread.threadId), { 'last-event-id': frozen.lastEventId });
  await resumed.untilId(head);
  expect([...frozen.seqs, ...resumed.seqs]).toEqual(sequence(head));
}, 30_000);

test('a drain lets every client go over time, stalled ones too, and each goes on elsewhere without a gap', async () => {
  const gateway = await world.anotherGateway({ poolMax: 5 });
  const next = await world.anotherGateway({ poolMax: 5 });
  const thread = await world.threadWith(50);
  const streams: SseClient[] = [];
  for (let i = 0; i < 200; i++) streams.push(await world.open(gateway.events(thread.threadId)));
  await Promise.all(streams.map((stream) => stream.untilId(50)));
  const stalled = streams.slice(0, 5);
  for (const stream of stalled) stream.stopReading();
  // more than the kernel takes for a reader that takes nothing, less than what gets it cut
  while (gateway.hub.metrics().buffered_bytes === 0) await world.append(thread, 100, { padding: 'x'.repeat(2_048) });

  const closedAt: number[] = [];
  for (const stream of streams) stream.response?.once('close', () => closedAt.push(performance.now()));
  const startedAt = performance.now();
  const drained = gateway.hub.drain(2_000);
  const refused = await fetch(gateway.events(thread.threadId));
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: 'draining' });
  const head = await world.append(thread, 1);
  await drained;
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeLessThan(5_000);
  expect(gateway.hub.metrics()).toMatchObject({ subscribers: 0, buffered_bytes: 0 });
  const healthy = streams.slice(5);
  await Promise.all(healthy.map((stream) => stream.untilClosed()));
  expect(Math.max(...closedAt) - Math.min(...closedAt)).toBeGreaterThan(1_500);
  for (const stream of healthy) {
    expect(stream.named('drain')).toHaveLength(1);
    expect(stream.named('drain')[0]?.id).toBeUndefined();
  }
  const resumed = await Promise.all(
    streams.map((stream) => world.open(next.events(thread.threadId), { 'last-event-id': stream.lastEventId })),
  );
  await Promise.all(resumed.map((stream) => stream.until((c) => c.named('caught-up').length === 1, 20_000)));
  for (const [i, stream] of resumed.entries()) {
    expect([...(streams[i]?.seqs ?? []), ...stream.seqs]).toEqual(sequence(head));
  }
  expect(next.pool.totalCount).toBeLessThanOrEqual(5);
}, 60_000);

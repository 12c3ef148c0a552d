import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/database.ts';
import { createListener, type Listener, type ListenerOptions } from './listener.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

interface Heard {
  readonly listener: Listener;
  readonly payloads: string[];
  readonly lines: string[];
  readonly connects: () => number;
}

async function listen(options: Partial<ListenerOptions> = {}): Promise<Heard> {
  const payloads: string[] = [];
  const lines: string[] = [];
  let connects = 0;
  const listener = createListener({
    databaseUrl: database.url,
    channels: ['first', 'Second "quoted"'],
    onNotify: (channel, payload) => payloads.push(`${channel}: ${payload}`),
    onConnect: () => void (connects += 1),
    log: pino({}, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) }),
    ...options,
  });
  onTestFinished(() => listener.stop());
  await listener.start();
  return { listener, payloads, lines, connects: () => connects };
}

const notify = (channel: string, payload: string): Promise<unknown> =>
  database.pool.query('select pg_notify($1, $2)', [channel, payload]);

test('it hears what is sent on its channels', async () => {
  const heard = await listen();
  expect(heard.connects()).toBe(1);
  await notify('first', 'a');
  await notify('third', 'b');
  await notify('Second "quoted"', '["c"]');
  await expect.poll(() => heard.payloads).toEqual(['first: a', 'Second "quoted": ["c"]']);
});

test('a connection that the server ends is replaced, logged once and counted', async () => {
  const heard = await listen();
  const ended = `select pg_terminate_backend(pid) from pg_stat_activity
                  where application_name = 'tidemark-listener' and datname = current_database()`;
  await database.pool.query(ended);
  await expect.poll(heard.connects, { timeout: 3_000 }).toBe(2);
  await notify('first', 'again');
  await expect.poll(() => heard.payloads).toEqual(['first: again']);
  expect(heard.listener.lostCount()).toBe(1);
  expect(heard.lines).toEqual(['listen connection lost']);
});

test('a path that swallows everything is noticed within the watchdog’s limit', async () => {
  const target = new URL(database.url);
  const { port, hostname } = target;
  const sockets: Socket[] = [];
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.pipe(server).pipe(client);
    sockets.push(client, server);
    for (const socket of [client, server]) socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void relay.close());
  target.port = String((relay.address() as AddressInfo).port);

  const heard = await listen({ databaseUrl: target.href, watchdog: { everyMs: 200, limitMs: 300 } });
  for (const socket of sockets) socket.unpipe().pause();
  await expect.poll(heard.connects, { timeout: 3_000 }).toBe(2);
  expect(heard.listener.lostCount()).toBe(1);
  await notify('first', 'through');
  await expect.poll(() => heard.payloads).toEqual(['first: through']);
  for (const socket of sockets) socket.destroy();
});

test('it starts while the server is away, goes on trying, and stops at any time', async () => {
  const away = new URL(database.url);
  away.port = '1';
  const heard = await listen({ databaseUrl: away.href });
  expect(heard.connects()).toBe(0);
  expect(heard.lines).toContain('listen connection refused');
  expect(heard.listener.lostCount()).toBe(0);
  const startedAt = performance.now();
  await heard.listener.stop();
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test('stopping leaves no connection behind', async () => {
  const heard = await listen();
  await heard.listener.stop();
  const count = `select 1 from pg_stat_activity where application_name = 'tidemark-listener' and datname = current_database()`;
  await expect.poll(async () => (await database.pool.query(count)).rowCount).toBe(0);
  expect(heard.lines).toEqual([]);
});

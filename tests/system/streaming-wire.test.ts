import { request } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { useStreaming } from '../fixtures/streaming.ts';
import { appendText, createThread } from '../fixtures/threads.ts';

const world = useStreaming();

/** A relay that forwards what the server sends one byte at a time. */
async function byteRelay(to: string): Promise<string> {
  const target = new URL(to);
  const { port, hostname } = target;
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.setNoDelay(true);
    client.pipe(server);
    server.on('data', (chunk: Buffer) => {
      for (const byte of chunk) client.write(Uint8Array.of(byte));
    });
    server.on('end', () => client.end());
    for (const socket of [client, server]) socket.on('error', () => {});
    client.on('close', () => server.destroy());
  });
  await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void relay.close());
  target.port = String((relay.address() as AddressInfo).port);
  return target.href;
}

test('the headers keep proxies from holding events back, and come before the first event exists', async () => {
  const thread = await world.threadWith(0);
  const client = await world.open(
    world.gateway.events(thread.threadId),
    { 'accept-encoding': 'gzip, br' },
    { keepBytes: true },
  );
  expect(client.status).toBe(200);
  expect(client.response?.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    vary: 'Accept',
  });
  expect(client.response?.headers['content-encoding']).toBeUndefined();
  await client.until((c) => c.named('caught-up').length === 1);
  expect(client.bytes.toString()).toBe(
    `: open\nretry: 1000\n\nevent: caught-up\ndata: {"threadId":"${thread.threadId}","head":0}\n\n`,
  );
  const tookMs: number[] = [];
  for (let seq = 1; seq <= 5; seq++) {
    const appendedAt = performance.now();
    await world.append(thread, 1);
    await client.untilId(seq);
    tookMs.push(performance.now() - appendedAt);
  }
  expect(Math.min(...tookMs)).toBeLessThan(200);
});

test('a quiet stream is never quiet for longer than the heartbeat', async () => {
  const quick = await world.anotherGateway({ settings: { heartbeatMs: 500 } });
  const thread = await world.threadWith(1);
  const comments = await world.open(quick.events(thread.threadId));
  const events = await world.open(quick.events(thread.threadId, 'heartbeat=event'));
  await comments.until((c) => c.frames.filter(({ comment }) => comment === 'ping').length >= 4);
  await events.until((c) => c.named('heartbeat').length >= 4);
  for (const { frames } of [comments, events]) {
    const gaps = frames.slice(1).map(({ at }, i) => at - (frames[i]?.at ?? at));
    expect(Math.max(...gaps)).toBeLessThan(1_000);
  }
  expect(comments.named('heartbeat')).toEqual([]);
  expect(events.frames.some(({ comment }) => comment === 'ping')).toBe(false);
});

test('text in any script comes through a relay of single bytes as it was, even cut inside a character', async () => {
  const thread = await createThread(world.pool);
  const pieces = [
    'ñ',
    '你好世界 🌍',
    '👩‍👩‍👧‍👦',
    'a\ud83d',
    '\ude00b',
    '\u2028\u2029\u0000\r\n\n: x\nid: 9\n\n',
    '\udc00 alone',
  ];
  for (const piece of pieces) await appendText(world.pool, thread, 'msg', piece);
  const head = pieces.length + 1; // message.started comes first
  const client = await world.open(await byteRelay(world.gateway.events(thread.threadId)), {}, { keepBytes: true });
  await client.untilId(head);
  const texts = client.deliveries.flatMap(({ event }) => (event?.['kind'] === 'message.delta' ? [event['text']] : []));
  expect(texts).toEqual(pieces);
  expect(texts.join('')).toContain('a😀b');
  expect(client.bytes.includes(Buffer.from('\ufffd'))).toBe(false);
  expect(client.frames.flatMap(({ id }) => id ?? [])).toHaveLength(head);
  const { rows } = await world.pool.query('select 1 from delivery where thread_id = $1 and position($2 in body) > 0', [
    thread.threadId,
    '\ufffd',
  ]);
  expect(rows).toEqual([]);
});

test('the form is negotiated: a stream unless JSON is preferred, and nothing else', async () => {
  const thread = await world.threadWith(1);
  const typeFor = async (accept: string | undefined): Promise<string | undefined> =>
    await new Promise((resolve, reject) => {
      const url = world.gateway.events(thread.threadId);
      const asked = request(url, { agent: false, headers: accept === undefined ? {} : { accept } }, (response) => {
        resolve(`${String(response.statusCode)} ${String(response.headers['content-type'])}`);
        response.destroy();
      });
      asked.on('error', reject).end();
    });
  const sse = '200 text/event-stream; charset=utf-8';
  const json = '200 application/json; charset=utf-8';
  expect(await typeFor(undefined)).toBe(sse);
  expect(await typeFor('*/*')).toBe(sse);
  expect(await typeFor('text/event-stream')).toBe(sse);
  expect(await typeFor('text/html,application/xhtml+xml,*/*;q=0.8')).toBe(sse);
  expect(await typeFor('application/json')).toBe(json);
  expect(await typeFor('text/event-stream;q=0.5, application/json')).toBe(json);
  expect(await typeFor('application/json;q=0.5, text/event-stream')).toBe(sse);
  expect(await typeFor('text/html')).toMatch(/^406 application\/problem\+json/);
});

test('HEAD says what GET would and leaves no stream behind', async () => {
  const thread = await world.threadWith(1);
  const before = world.gateway.hub.metrics().subscribers;
  const response = await fetch(world.gateway.events(thread.threadId), { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(world.gateway.hub.metrics().subscribers).toBe(before);
});

const refused = (parameter: string): object => ({ status: 400, code: 'invalid_request', parameter });

test('what is asked wrongly is refused by name', async () => {
  const thread = await world.threadWith(1);
  const ask = async (query: string, accept = 'text/event-stream'): Promise<unknown> => {
    const response = await fetch(world.gateway.events(thread.threadId, query), { headers: { accept } });
    return { status: response.status, ...((await response.json()) as object) };
  };
  expect(await ask('start=3&cursor=1')).toMatchObject(refused('start, cursor'));
  expect(await ask('from=3')).toMatchObject(refused('from'));
  expect(await ask('from=oldest&tail=1')).toMatchObject(refused('from'));
  expect(await ask('limit=10')).toMatchObject(refused('limit'));
  expect(await ask('kinds=message.delta,nonsense')).toMatchObject(refused('kinds'));
  expect(await ask('kinds=')).toMatchObject(refused('kinds'));
  expect(await ask('kinds=tool.started&kinds=tool.completed')).toMatchObject(refused('kinds'));
  expect(await ask('run_id=abc')).toMatchObject(refused('run_id'));
  expect(await ask('tail=yes')).toMatchObject(refused('tail'));
  expect(await ask('tail=1&after=1')).toMatchObject(refused('tail'));
  expect(await ask('heartbeat=none')).toMatchObject(refused('heartbeat'));
  for (const limit of ['0', '1001', '-1', '1.5', '']) {
    expect(await ask(`limit=${limit}`, 'application/json')).toMatchObject(refused('limit'));
  }
  expect(await ask('wait=31', 'application/json')).toMatchObject(refused('wait'));
  expect(await ask('heartbeat=event', 'application/json')).toMatchObject(refused('heartbeat'));
});

test('a tenant cannot tell another’s thread from one that is not there, and gets no byte of it', async () => {
  const secret = 'only for the first tenant';
  const mine = await createThread(world.pool, { tenantId: 'one' });
  await world.append(mine, 5, { padding: secret });
  const theirs = await createThread(world.pool, { tenantId: 'two' });
  await world.append(theirs, 2);
  const ask = async (threadId: string, query: string, headers: Record<string, string>): Promise<string> => {
    const url = world.gateway.events(threadId, query);
    const response = await fetch(url, { headers: { 'x-tenant': 'two', ...headers } });
    const body = await response.text();
    return `${String(response.status)} ${body.replaceAll(threadId, 'ID')}`;
  };
  const missing = 'thr_01890a5d-ac96-774b-bcce-b302099a8057';
  const answer = await ask(missing, '', {});
  expect(answer).toMatch(/^404 .*"code":"thread_not_found"/);
  for (const accept of ['text/event-stream', 'application/json']) {
    for (const query of ['', 'after=0', 'after=3', 'after=99', 'tail=1', `run_id=${mine.runId}`]) {
      expect(await ask(mine.threadId, query, { accept })).toBe(answer);
    }
    expect(await ask(mine.threadId, '', { accept, 'last-event-id': '4' })).toBe(answer);
    for (const malformed of ['thr_1', 'x', `${missing}%00`, encodeURIComponent("' or true --")]) {
      expect(await ask(malformed, '', { accept })).toMatch(/^404 .*"code":"thread_not_found"/);
    }
  }
  for (let seq = 3; seq <= 5; seq++) expect(await ask(theirs.threadId, `after=${String(seq)}`, {})).toMatch(/^416 /);
  const page = await ask(theirs.threadId, `run_id=${mine.runId}`, { accept: 'application/json' });
  expect(page).toContain('"deliveries":[]');
  expect(page).not.toContain(secret);
});

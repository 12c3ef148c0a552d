import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WriteStream } from './write-stream.ts';

const limits = { maxUnsentBytes: 100_000, stallMs: 300, heartbeatMs: 15_000 };

/** A response in the hands of a `WriteStream`, and the client at its other end. */
async function connection(): Promise<{
  stream: WriteStream;
  res: ServerResponse;
  client: IncomingMessage;
  cuts: string[];
}> {
  const cuts: string[] = [];
  const serving = Promise.withResolvers<{ stream: WriteStream; res: ServerResponse }>();
  const server = createServer((_req, res) => {
    const stream = new WriteStream(res, { limits, heartbeat: ': ping\n\n', onCut: (reason) => cuts.push(reason) });
    stream.openSse();
    serving.resolve({ stream, res });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const client = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent: false }, resolve).on('error', reject);
  });
  client.on('error', () => {});
  return { ...(await serving.promise), client, cuts };
}

test('an event larger than the bound reaches a reader that keeps up', async () => {
  const { stream, client, cuts } = await connection();
  let received = 0;
  client.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  const size = 20_000_000;
  stream.push(Buffer.alloc(size, 'x'));
  stream.check(performance.now(), 1_000);
  await expect.poll(() => received, { timeout: 5_000 }).toBeGreaterThan(size);
  expect(cuts).toEqual([]);
});

test('a reader that takes nothing is cut when the bound is passed, once, and writes after that go nowhere', async () => {
  const { stream, client, cuts } = await connection();
  client.pause();
  for (let i = 0; i < 400; i++) {
    stream.push(Buffer.alloc(64_000, 'x'));
    await sleep(0);
  }
  await stream.closed;
  expect(cuts).toEqual(['slow']);
  expect(stream.isOpen).toBe(false);
  expect(stream.unsentBytes).toBe(0);
  stream.write('late');
  expect(await stream.drained()).toBe(false);
});

test('a replay waits for its client, and is cut when the client takes nothing for too long', async () => {
  const { stream, client, cuts } = await connection();
  const checking = setInterval(() => stream.check(performance.now(), 50), 50);
  onTestFinished(() => clearInterval(checking));
  let written = 0;
  while (written < 1_000 && (await stream.drained())) {
    stream.write(Buffer.alloc(64_000, 'x'));
    written += 1;
    if (written === 10) client.pause();
  }
  expect(cuts).toEqual(['stalled']);
  expect(written).toBeLessThan(400); // the kernel's buffers and a quarter of a megabyte
  await stream.closed;
});

test('the end is the last that is said', async () => {
  const { stream, client } = await connection();
  const received: Buffer[] = [];
  client.on('data', (chunk: Buffer) => received.push(chunk));
  stream.end('bye\n\n');
  stream.write('late');
  stream.end('later');
  await stream.closed;
  await expect.poll(() => client.complete).toBe(true);
  expect(Buffer.concat(received).toString()).toBe(': open\nretry: 1000\n\nbye\n\n');
});

test('a stream over a response whose client has already left is closed from the start', async () => {
  const { res, client } = await connection();
  client.destroy();
  await expect.poll(() => res.closed).toBe(true);
  const late = new WriteStream(res, { limits, heartbeat: '', onCut: () => {} });
  await late.closed;
  expect(late.isOpen).toBe(false);
  expect(await late.drained()).toBe(false);
});

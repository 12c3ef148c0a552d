import { createWriteStream } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';

/** What ends a replay: the stream is live from here on. */
const CAUGHT_UP = 'event: caught-up\n';
/** Longer than the frame that says so. */
const TAIL_BYTES = 400;

/**
 * Reads a stream up to `caught-up` over a bare socket, so that the reader costs as little as it can; milliseconds from the
 * connect to the last byte.
 */
export async function timeToCaughtUp(url: string): Promise<number> {
  let tail = '';
  return await timeUntil(url, (chunk) => {
    tail = (tail + chunk.subarray(-TAIL_BYTES).toString('latin1')).slice(-TAIL_BYTES);
    return tail.includes(CAUGHT_UP);
  });
}

/** Milliseconds from the connect to the first byte of the first delivery. */
export async function timeToFirstDelivery(url: string): Promise<number> {
  return await timeUntil(url, (chunk) => chunk.includes('\nid: '));
}

/** Writes the body of a stream up to and with `caught-up` to a file; how many bytes. */
export async function saveStream(url: string, file: string): Promise<number> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { accept: 'text/event-stream' }, agent: false }, resolve).on('error', reject);
  });
  const out = createWriteStream(file);
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    out.write(chunk);
    bytes += chunk.length;
    if (chunk.subarray(-TAIL_BYTES).includes(CAUGHT_UP)) break;
  }
  await new Promise<void>((resolve) => void out.end(resolve));
  return bytes;
}

async function timeUntil(url: string, isEnd: (chunk: Buffer) => boolean): Promise<number> {
  const { hostname, port, pathname, search } = new URL(url);
  const startedAt = performance.now();
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: text/event-stream\r\n\r\n`);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`${pathname} ended early`)));
    socket.on('data', (chunk: Buffer) => {
      if (!isEnd(chunk)) return;
      resolve(performance.now() - startedAt);
      socket.destroy();
    });
  });
}

// The least that a fan-out in Node can be: every client's response is written the same buffer, an event at a time.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlainEvent } from './protocol.ts';

const clients = new Set<ServerResponse>();
const waiting: Buffer[] = [];

const server = createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(': open\n\n');
  clients.add(res);
  res.on('close', () => clients.delete(res));
});

process.on('message', ({ frame }: PlainEvent) => {
  waiting.push(Buffer.from(frame));
  if (waiting.length === 1) setImmediate(writeNext);
});

/** One event a turn of the event loop: Node joins what is written to a response within one. */
function writeNext(): void {
  const bytes = waiting.shift();
  if (bytes === undefined) return;
  for (const client of clients) client.write(bytes);
  if (waiting.length > 0) setImmediate(writeNext);
}
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/` });
});

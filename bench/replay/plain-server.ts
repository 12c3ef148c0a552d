// The same bytes without Tidemark: plain Node `http`, from buffers of 64 KiB that were made before. Told over IPC which file.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const BUFFER_BYTES = 64 * 1024;
/** Written ahead of the client, as the gateway does: waiting for every buffer would make this the slower of the two. */
const AHEAD_BYTES = 256 * 1024;

let buffers: readonly Buffer[] = [];

const server = createServer({ highWaterMark: AHEAD_BYTES }, (_req, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  void writeAll(res);
});

async function writeAll(res: ServerResponse): Promise<void> {
  // one whose client has gone is never drained, and forgotten with its response
  for (const buffer of buffers) if (!res.write(buffer)) await once(res, 'drain');
}

process.on('message', ({ file }: { file: string }) => {
  void readFile(file).then((bytes) => {
    const count = Math.ceil(bytes.length / BUFFER_BYTES);
    buffers = Array.from({ length: count }, (_, i) => bytes.subarray(i * BUFFER_BYTES, (i + 1) * BUFFER_BYTES));
    process.send?.({ loaded: bytes.length });
  });
});
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/` });
});

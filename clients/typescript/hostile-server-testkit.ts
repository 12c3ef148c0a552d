import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** How many requests came before it. */
  readonly at: number;
}

export interface HostileServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Connections that are open at this moment. */
  open(): number;
}

/** A real server that answers as its test wants, until the test is over. */
export async function serve(
  answer: (res: ServerResponse, asked: Asked) => void | Promise<void>,
): Promise<HostileServer> {
  const asked: Asked[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((req, res) => {
    void take(req, res).catch(() => res.destroy());
  });
  async function take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    open.add(res);
    res.on('close', () => open.delete(res));
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const url = new URL(req.url ?? '/', 'http://server');
    const said: Asked = {
      method: req.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: req.headers,
      body: Buffer.concat(parts).toString(),
      at: asked.length,
    };
    asked.push(said);
    await answer(res, said);
  }
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, asked, open: () => open.size };
}

export function json(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  res.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body));
}

export function problem(code: string, status: number, facts: Record<string, unknown> = {}) {
  return { type: `urn:tidemark:error:${code}`, status, code, detail: `it is ${code}`, remedy: 'do so', ...facts };
}

/** Begins a stream of events. Comes back at once when it is lost. */
export function stream(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  res.write(': open\nretry: 1\n\n');
}

/** Sends these bytes and breaks the connection off. */
export async function breakOff(res: ServerResponse, bytes: Uint8Array | string): Promise<void> {
  await new Promise<void>((resolve) => {
    if (bytes.length === 0) resolve();
    else res.write(bytes, () => resolve());
  });
  // what is written goes out before the socket is gone
  await nextTurn();
  res.socket?.destroy();
}

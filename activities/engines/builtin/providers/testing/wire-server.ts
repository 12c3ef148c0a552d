import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentContext, AssistantMessage } from '../../../../../contract/agent-messages.ts';
import { createOpenAICompletions } from '../openai-completions.ts';
import type { CallOptions, ProviderEvent } from '../provider.ts';
import { fixedKey } from './fixed-key.ts';

export type Answer = (response: ServerResponse, request: Received) => void | Promise<void>;

export interface Received {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
  readonly socket: Socket;
}

/** A model server whose answers are written by hand, byte for byte. */
export interface WireServer {
  readonly address: string;
  readonly baseUrl: string;
  readonly received: Received[];
  answer: Answer;
  /** Whether the connection of the newest request is closed. */
  isClosed(): boolean;
  close(): Promise<void>;
}

export async function startWireServer(): Promise<WireServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (bytes: Buffer) => chunks.push(bytes));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
      const seen = { path: request.url ?? '', body, headers: request.headers, socket: request.socket };
      received.push(seen);
      void wire.answer(response, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const wire: WireServer = {
    address: `http://127.0.0.1:${String(port)}`,
    baseUrl: `http://127.0.0.1:${String(port)}/v1`,
    received,
    answer: (response) => void response.writeHead(500).end(),
    isClosed: () => received.at(-1)?.socket.destroyed === true,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return wire;
}

/** One event of a Chat Completions stream. */
export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export function chunk(delta: object, finish: string | null = null): string {
  return data({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
}

export const DONE = 'data: [DONE]\n\n';

/** Answers with a stream, its parts written as they are given; `atATime` cuts them into pieces of so many bytes. */
export function stream(parts: readonly string[], options: { atATime?: number; cut?: boolean } = {}): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(parts.join(''), 'utf8');
    const size = options.atATime ?? bytes.length;
    response.socket?.setNoDelay(true);
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size));
      if (options.atATime !== undefined) await sleep(0);
    }
    if (options.cut !== true) response.end();
  };
}

export const HELLO: AgentContext = {
  messages: [{ role: 'user', content: 'hello', timestamp: 1 }],
  tools: [],
  maxTokens: 100,
};

export const API_KEY = 'sk-test-0123456789abcdef';

/** One call against the server; what was said on the way and the message. */
export async function call(
  server: WireServer,
  options: Partial<CallOptions> = {},
  context: AgentContext = HELLO,
): Promise<{ message: AssistantMessage; events: ProviderEvent[] }> {
  const provider = createOpenAICompletions({ name: 'openai', auth: fixedKey(API_KEY), baseUrl: server.baseUrl });
  const events: ProviderEvent[] = [];
  const message = await provider.complete(
    'test-model',
    context,
    { signal: new AbortController().signal, stallMs: 5_000, toolCallId: (n) => `tc_${String(n)}`, ...options },
    (event) => void events.push(event),
  );
  return { message, events };
}

/** The deltas of one block, joined. */
export function joined(events: readonly ProviderEvent[], contentIndex: number): string {
  return events.map((event) => ('delta' in event && event.contentIndex === contentIndex ? event.delta : '')).join('');
}

/** The events' types, runs of the same one folded. */
export function types(events: readonly ProviderEvent[]): string[] {
  return events.map((event) => event.type).filter((type, n, all) => type !== all[n - 1]);
}

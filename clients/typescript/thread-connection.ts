import { TidemarkApiError } from './api-error.ts';
import { EventStreamParser, type StreamBlock } from './event-stream-parser.ts';
import { pathOf, type Query, type Transport } from './transport.ts';

export interface ThreadConnectionOptions {
  readonly transport: Transport;
  readonly threadId: string;
  readonly query: Query;
  readonly signal: AbortSignal | undefined;
  /** So long without a byte, and the connection is taken for dead. The server says something every 15 s. */
  readonly silenceMs: number;
}

/**
 * One connection to a thread's stream, block by block, until the server ends it.
 *
 * **Contract:** closed in every case when it is left. Silence, bytes that are no stream and a broken connection end it with a
 * `TidemarkApiError`.
 */
export async function* readConnection(options: ThreadConnectionOptions): AsyncGenerator<StreamBlock, void, undefined> {
  const { transport, threadId, query, signal, silenceMs } = options;
  const closing = new AbortController();
  const close = () => closing.abort(signal?.reason);
  if (signal?.aborted === true) return;
  signal?.addEventListener('abort', close, { once: true });
  const patience = new Patience(closing, silenceMs);
  try {
    const request = { method: 'GET', path: pathOf`/v1/threads/${threadId}/events`, query } as const;
    const headers = { accept: 'text/event-stream' };
    const response = await patience.for(transport.open({ ...request, headers, signal: closing.signal }));
    const type = response.headers.get('content-type') ?? '';
    if (response.body === null || !type.startsWith('text/event-stream')) throw noStream(type);
    const reader = response.body.getReader();
    const parser = new EventStreamParser();
    for (let part = await patience.for(reader.read()); !part.done; part = await patience.for(reader.read())) {
      yield* parsed(parser, part.value);
    }
  } catch (error) {
    if (error instanceof TidemarkApiError) throw error;
    if (patience.isOver) throw silent(silenceMs);
    throw broken(error);
  } finally {
    signal?.removeEventListener('abort', close);
    closing.abort();
  }
}

/** Ends the wait for a connection that says nothing. Runs only while something is waited for. */
class Patience {
  isOver = false;
  readonly #closing: AbortController;
  readonly #ms: number;

  constructor(closing: AbortController, ms: number) {
    this.#closing = closing;
    this.#ms = ms;
  }

  async for<T>(awaited: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.isOver = true;
      this.#closing.abort();
    }, this.#ms);
    try {
      return await awaited;
    } finally {
      clearTimeout(timer);
    }
  }
}

function parsed(parser: EventStreamParser, bytes: Uint8Array): StreamBlock[] {
  try {
    return parser.push(bytes);
  } catch (cause) {
    throw invalidStream(cause);
  }
}

/** What the stream said cannot be; its cursor still can. */
export function invalidStream(cause: unknown): TidemarkApiError {
  return new TidemarkApiError(
    'stream_invalid',
    `the thread’s stream is not what the protocol says: ${cause instanceof Error ? cause.message : String(cause)}`,
    'Check what stands between this client and the gateway; follow again from the last delivery that was given.',
    { cause, mayPass: true },
  );
}

function noStream(type: string): TidemarkApiError {
  return new TidemarkApiError(
    'stream_invalid',
    `the thread’s events came as ${JSON.stringify(type.slice(0, 100))} and not as text/event-stream`,
    'Check that the base URL leads to a Tidemark gateway, and what stands between.',
    { mayPass: true },
  );
}

function silent(silenceMs: number): TidemarkApiError {
  return new TidemarkApiError(
    'no_answer',
    `the stream said nothing for ${String(silenceMs)} ms`,
    'The client connects again by itself.',
    { mayPass: true },
  );
}

function broken(cause: unknown): TidemarkApiError {
  return new TidemarkApiError(
    'no_answer',
    `the stream broke: ${cause instanceof Error ? cause.message : String(cause)}`,
    'The client connects again by itself.',
    { cause, mayPass: true },
  );
}

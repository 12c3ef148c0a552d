import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import type { WireFrame, WireMessage } from './wire-frame.ts';
import { closedOutput } from '../process/engine-fault.ts';
import { linesOf } from './json-lines.ts';
import { RequestFault } from './request-fault.ts';

/** How long what an agent wrote before it died is still read: a descendant may hold its output open for ever. */
const DRAIN_MS = 1_000;
const MALFORMED_SHOWN_CHARS = 2_000;

/** What an agent asks of its client. The signal aborts when it takes the request back. */
export interface EngineRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
  readonly signal: AbortSignal;
}

export interface RpcAnswer {
  readonly frame: WireFrame;
  readonly result: unknown;
  readonly error: unknown;
}

export interface JsonRpcParts {
  /** What each message begins with: `{ jsonrpc: '2.0' }`, or nothing for an engine that leaves it out. */
  readonly envelope: Readonly<Record<string, string>>;
  /** The notification by which the engine takes a request back, with its `requestId`; null: it has none. */
  readonly withdrawal: string | null;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has gone, with the fault that it is. */
  readonly gone: Promise<TidemarkError>;
  /** Stores a message; resolves with its frame. Calls are stored in the order in which they are made. */
  record(dir: WireFrame['dir'], message: WireMessage): Promise<WireFrame>;
  /** Stores what is no message. */
  recordMalformed(text: string): Promise<void>;
  /** Answers a request of the agent, or throws a `RequestFault`. */
  serve(request: EngineRequest): Promise<unknown>;
  /** Is told what the agent says unasked: the frame as it was stored, the parameters as they came. */
  hear(frame: WireFrame, params: unknown): void;
}

/**
 * JSON-RPC over the standard streams of an engine: one object a line, in both directions.
 *
 * **Contract:** a message is stored before anything that it leads to happens, and the next one is read only then. A request of the
 * agent is served beside those that follow it. When the agent ends, says what is no JSON-RPC, or a message cannot be stored,
 * every open request rejects with that fault, once and for all.
 */
export class JsonRpcConnection {
  /** Resolves with the fault that ended the conversation. */
  readonly ended: Promise<Error>;
  readonly #endedWith = Promise.withResolvers<Error>();
  readonly #parts: JsonRpcParts;
  readonly #open = new Map<string, PromiseWithResolvers<RpcAnswer>>();
  readonly #served = new Map<string, AbortController>();
  #nextId = 0;
  #fault: Error | null = null;

  constructor(parts: JsonRpcParts) {
    this.#parts = parts;
    this.ended = this.#endedWith.promise;
    // a pipe that breaks says less than the exit behind it
    parts.stdin.on('error', () => undefined);
    const reading = this.#read();
    void this.#watch(reading);
  }

  /** Asks; resolves with the answer, also when it is an error. Rejects only if there will be no answer. */
  async request(method: string, params: unknown): Promise<RpcAnswer> {
    const id = this.#nextId++;
    const answer = Promise.withResolvers<RpcAnswer>();
    this.#open.set(keyOf(id), answer);
    // the fault is thrown from the await below, also when it comes while the request is still being stored
    answer.promise.catch(() => undefined);
    await this.#send({ id, method, params });
    return await answer.promise;
  }

  async notify(method: string, params?: unknown): Promise<void> {
    await this.#send(params === undefined ? { method } : { method, params });
  }

  /** Ends the conversation: who waits for an answer is given the fault. Only the first call counts. */
  end(fault: Error): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    for (const { reject } of this.#open.values()) reject(fault);
    this.#open.clear();
    for (const served of this.#served.values()) served.abort();
    this.#served.clear();
    this.#endedWith.resolve(fault);
    this.#parts.stdout.destroy();
  }

  async #send(message: WireMessage): Promise<void> {
    this.#throwIfEnded();
    try {
      await this.#parts.record('send', message);
    } catch (error) {
      const fault = asError(error);
      this.end(fault);
      throw fault;
    }
    this.#throwIfEnded();
    this.#parts.stdin.write(`${JSON.stringify({ ...this.#parts.envelope, ...message })}\n`);
  }

  #throwIfEnded(): void {
    if (this.#fault !== null) throw this.#fault;
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#parts.stdout)) {
        if (this.#fault !== null) return;
        await this.#take(line);
      }
    } catch (error) {
      this.end(asError(error));
    }
  }

  /** The process can go before its last words are read, and its output can close before it goes. */
  async #watch(reading: Promise<void>): Promise<void> {
    const closed = reading.then(closedOutput);
    const { gone } = this.#parts;
    await Promise.race([gone, closed]);
    const grace = delay(DRAIN_MS, closedOutput(), { ref: false });
    await Promise.race([reading, grace]);
    this.end(await Promise.race([gone, grace]));
  }

  async #take(line: string): Promise<void> {
    const message = messageOf(line);
    if (message === null) {
      await this.#parts.recordMalformed(previewText(line, MALFORMED_SHOWN_CHARS));
      throw new TidemarkError(
        'engine_protocol_error',
        'the engine printed a line that is no JSON-RPC message',
        'The frame `malformed` of the run shows the line. Check that its command makes it speak its protocol.',
      );
    }
    const frame = await this.#parts.record('recv', message);
    const { id, method, params, result, error } = message;
    if (method === undefined) {
      const key = keyOf(id);
      this.#open.get(key)?.resolve({ frame, result, error });
      this.#open.delete(key);
      return;
    }
    if (id !== undefined && id !== null) void this.#serve({ id, method, params });
    else if (method === this.#parts.withdrawal) this.#withdraw(params);
    else this.#parts.hear(frame, params);
  }

  #withdraw(params: unknown): void {
    const withdrawn = params as { requestId?: unknown } | null | undefined;
    this.#served.get(keyOf(withdrawn?.requestId))?.abort();
  }

  async #serve(request: Omit<EngineRequest, 'signal'>): Promise<void> {
    const { id } = request;
    const withdrawn = new AbortController();
    this.#served.set(keyOf(id), withdrawn);
    try {
      const answer = await this.#answerTo({ ...request, signal: withdrawn.signal });
      if (this.#fault === null) await this.#send({ id, ...answer });
    } catch (error) {
      this.end(asError(error));
    } finally {
      this.#served.delete(keyOf(id));
    }
  }

  async #answerTo(request: EngineRequest): Promise<{ result: unknown } | { error: unknown }> {
    try {
      return { result: (await this.#parts.serve(request)) ?? null };
    } catch (error) {
      if (error instanceof RequestFault) return { error: { code: error.code, message: error.message } };
      throw error;
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function keyOf(id: unknown): string {
  return JSON.stringify(id ?? null);
}

/** A line as a message; null where it is none. */
function messageOf(line: string): WireMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { id, method } = value as Record<string, unknown>;
  const isAnswer = method === undefined && id !== undefined && ('result' in value || 'error' in value);
  return typeof method === 'string' || isAnswer ? value : null;
}

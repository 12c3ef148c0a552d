import type { Readable, Writable } from 'node:stream';
import { TidemarkError } from '../../../contract/errors.ts';
import type { WireFrame, WireMessage } from './wire-frame.ts';
import { asError, LineStream, shownLine } from './line-stream.ts';
import { RequestFault } from './request-fault.ts';

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
  readonly #parts: JsonRpcParts;
  readonly #stream: LineStream;
  readonly #open = new Map<string, PromiseWithResolvers<RpcAnswer>>();
  readonly #served = new Map<string, AbortController>();
  #nextId = 0;

  constructor(parts: JsonRpcParts) {
    this.#parts = parts;
    const { stdin, stdout, gone } = parts;
    this.#stream = new LineStream({
      ...{ stdin, stdout, gone },
      take: async (line) => await this.#take(line),
      onEnd: (fault) => this.#drop(fault),
    });
    this.ended = this.#stream.ended;
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
    this.#stream.end(fault);
  }

  #drop(fault: Error): void {
    for (const { reject } of this.#open.values()) reject(fault);
    this.#open.clear();
    for (const served of this.#served.values()) served.abort();
    this.#served.clear();
  }

  async #send(message: WireMessage): Promise<void> {
    await this.#stream.say(
      { ...this.#parts.envelope, ...message },
      async () => await this.#parts.record('send', message),
    );
  }

  async #take(line: string): Promise<void> {
    const message = messageOf(line);
    if (message === null) {
      await this.#parts.recordMalformed(shownLine(line));
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
      if (!this.#stream.hasEnded) await this.#send({ id, ...answer });
    } catch (error) {
      this.#stream.end(asError(error));
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

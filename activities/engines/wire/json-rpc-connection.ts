import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import { linesOf } from './json-lines.ts';
import { RequestFault } from './request-fault.ts';
import type { WireFrame, WireMessage } from './wire-frame.ts';

/** How long what an engine wrote before it died is still read: a descendant may hold its output open for ever. */
const DRAIN_MS = 1_000;
const MALFORMED_SHOWN_CHARS = 2_000;

/** What an engine asks of its client. */
export interface EngineRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
}

export interface RpcAnswer {
  readonly result: unknown;
  readonly error: unknown;
}

export interface JsonRpcParts {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has gone, with the fault that it is. */
  readonly gone: Promise<TidemarkError>;
  /** Stores a message; calls are stored in the order in which they are made. */
  record(dir: WireFrame['dir'], message: WireMessage): Promise<unknown>;
  /** Stores what is no message. */
  recordMalformed(text: string): Promise<void>;
  /** Answers a request of the engine, or throws a `RequestFault`. */
  serve(request: EngineRequest): Promise<unknown>;
  /** Is told what the engine says unasked, after it was stored. */
  hear(method: string, params: unknown): void;
}

/**
 * JSON-RPC over the standard streams of an engine that leaves out the `jsonrpc` field: one object a line, in both directions.
 *
 * **Contract:** a message is stored before anything that it leads to happens, and the next one is read only then. A request of the
 * engine is served beside those that follow it. When the engine ends, says what is no JSON-RPC, or a message cannot be stored,
 * every open request rejects with that fault, once and for all, and `ended` resolves with it.
 */
export class JsonRpcConnection {
  readonly ended: Promise<Error>;
  readonly #parts: JsonRpcParts;
  readonly #open = new Map<string, PromiseWithResolvers<RpcAnswer>>();
  readonly #endedWith = Promise.withResolvers<Error>();
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

  async notify(method: string): Promise<void> {
    await this.#send({ method });
  }

  /** Ends the conversation: who waits for an answer is given the fault. Only the first call counts. */
  end(fault: Error): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    for (const { reject } of this.#open.values()) reject(fault);
    this.#open.clear();
    this.#endedWith.resolve(fault);
    this.#parts.stdout.destroy();
  }

  async #send(message: WireMessage): Promise<void> {
    this.#throwIfEnded();
    try {
      await this.#parts.record('send', message);
    } catch (error) {
      this.end(asError(error));
    }
    this.#throwIfEnded();
    this.#parts.stdin.write(`${JSON.stringify(message)}\n`);
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
    const { gone } = this.#parts;
    await Promise.race([gone, reading]);
    const grace = delay(DRAIN_MS, CLOSED_OUTPUT, { ref: false });
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
        'The frame `malformed` of the run shows the line. Check that its command starts its protocol server.',
      );
    }
    await this.#parts.record('recv', message);
    const { id, method, params, result, error } = message;
    if (method === undefined) {
      this.#open.get(keyOf(id))?.resolve({ result, error });
      this.#open.delete(keyOf(id));
    } else if (id !== undefined && id !== null) void this.#serve({ id, method, params });
    else this.#parts.hear(method, params);
  }

  async #serve(request: EngineRequest): Promise<void> {
    try {
      const answer = await this.#answerTo(request);
      if (this.#fault === null) await this.#send({ id: request.id, ...answer });
    } catch (error) {
      this.end(asError(error));
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

const CLOSED_OUTPUT = new TidemarkError(
  'engine_lost',
  'the engine closed its output and said no more',
  'Send the message again; its session is taken up where it can be.',
);

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

import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import { linesOf } from '../wire/json-lines.ts';
import type { PiMessage } from './pi-frames.ts';
import { ResponseFrame } from './pi-schema.ts';

/** How long what pi wrote before it died is still read: a descendant may hold its output open for ever. */
const DRAIN_MS = 1_000;
const MALFORMED_SHOWN_CHARS = 2_000;

/** The answer to a command. */
export type PiAnswer =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: string };

export interface PiConnectionParts {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has gone, with the fault that it is. */
  readonly gone: Promise<TidemarkError>;
  /** Stores a message. Calls are stored in the order in which they are made. */
  record(dir: 'recv' | 'send', message: PiMessage): Promise<void>;
  /** Stores what is no message. */
  recordMalformed(text: string): Promise<void>;
  /** Is told what pi says, beside the answers to commands. */
  hear(message: PiMessage): void;
}

/**
 * pi's RPC over its standard streams: one object a line, in both directions.
 *
 * **Contract:** a message is stored before anything that it leads to happens, and the next one is read only then. When pi ends,
 * prints what is no message, or a message cannot be stored, every open command rejects with that fault, once and for all.
 */
export class PiConnection {
  /** Resolves with the fault that ends the conversation. */
  readonly ended: Promise<Error>;
  readonly #parts: PiConnectionParts;
  readonly #open = new Map<string, PromiseWithResolvers<PiAnswer>>();
  readonly #endedWith = Promise.withResolvers<Error>();
  #nextId = 1;
  #fault: Error | null = null;

  constructor(parts: PiConnectionParts) {
    this.#parts = parts;
    this.ended = this.#endedWith.promise;
    // a pipe that breaks says less than the exit behind it
    parts.stdin.on('error', () => undefined);
    const reading = this.#read();
    void this.#watch(reading);
  }

  /** Commands; resolves with the answer, also when it is a refusal. Rejects only if there will be no answer. */
  async command(type: string, fields: Readonly<Record<string, unknown>> = {}): Promise<PiAnswer> {
    const id = String(this.#nextId++);
    const answer = Promise.withResolvers<PiAnswer>();
    this.#open.set(id, answer);
    // the fault is thrown from the await below, also when it comes while the command is still being stored
    answer.promise.catch(() => undefined);
    await this.tell({ id, type, ...fields });
    return await answer.promise;
  }

  /** Says what is not answered. */
  async tell(message: PiMessage): Promise<void> {
    this.#throwIfEnded();
    try {
      await this.#parts.record('send', message);
    } catch (error) {
      const fault = asError(error);
      this.end(fault);
      throw fault;
    }
    this.#throwIfEnded();
    this.#parts.stdin.write(`${JSON.stringify(message)}\n`);
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
    const closed = reading.then(() => CLOSED_OUTPUT);
    const { gone } = this.#parts;
    await Promise.race([gone, closed]);
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
        'pi printed a line that is no message of its RPC',
        'The frame `malformed` of the run shows the line. Check that its command makes it speak RPC: pi --mode rpc.',
      );
    }
    await this.#parts.record('recv', message);
    const response = message.type === 'response' ? ResponseFrame.safeParse(message).data : undefined;
    if (response === undefined) return this.#parts.hear(message);
    const { id, success, data, error } = response;
    this.#open.get(id ?? '')?.resolve(success ? { success, data } : { success, error: error ?? '' });
    this.#open.delete(id ?? '');
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

/** A line as a message; null where it is none. */
function messageOf(line: string): PiMessage | null {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('type' in value)) return null;
    return typeof value.type === 'string' ? (value as PiMessage) : null;
  } catch {
    return null;
  }
}

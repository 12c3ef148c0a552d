import type { Readable, Writable } from 'node:stream';
import { TidemarkError } from '../../../contract/errors.ts';
import { LineStream, shownLine } from '../wire/line-stream.ts';
import type { PiMessage } from './pi-frames.ts';
import { ResponseFrame } from './pi-schema.ts';

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
  readonly #stream: LineStream;
  readonly #open = new Map<string, PromiseWithResolvers<PiAnswer>>();
  #nextId = 1;

  constructor(parts: PiConnectionParts) {
    this.#parts = parts;
    const { stdin, stdout, gone } = parts;
    this.#stream = new LineStream({
      ...{ stdin, stdout, gone },
      take: async (line) => await this.#take(line),
      onEnd: (fault) => this.#drop(fault),
    });
    this.ended = this.#stream.ended;
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
    await this.#stream.say(message, async () => await this.#parts.record('send', message));
  }

  /** Ends the conversation: who waits for an answer is given the fault. Only the first call counts. */
  end(fault: Error): void {
    this.#stream.end(fault);
  }

  #drop(fault: Error): void {
    for (const { reject } of this.#open.values()) reject(fault);
    this.#open.clear();
  }

  async #take(line: string): Promise<void> {
    const message = messageOf(line);
    if (message === null) {
      await this.#parts.recordMalformed(shownLine(line));
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

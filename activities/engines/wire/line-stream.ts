import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import { closedOutput } from '../process/engine-fault.ts';
import { linesOf } from './json-lines.ts';

/** How long what an engine wrote before it died is still read: a descendant may hold its output open for ever. */
const DRAIN_MS = 1_000;
const MALFORMED_SHOWN_CHARS = 2_000;

export interface LineStreamParts {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has gone, with the fault that it is. */
  readonly gone: Promise<TidemarkError>;
  /** Takes a line; the next one is read when it resolves. What it throws ends the stream. */
  take(line: string): Promise<void>;
  /** The fault of a process that lives on and has closed its output; without it, an engine's. */
  readonly closed?: TidemarkError;
  /** Told once, with the fault that ended the stream. */
  onEnd?(fault: Error): void;
}

/**
 * The standard streams of an engine that speaks in lines: what all its protocols have in common.
 *
 * **Contract:** lines are taken one by one. The stream ends once and for all: by a fault of who takes them, by `end`, or when the
 * process has gone or closed its output, after what it wrote before that was read.
 */
export class LineStream {
  /** Resolves with the fault that ended the stream. */
  readonly ended: Promise<Error>;
  readonly #parts: LineStreamParts;
  readonly #endedWith = Promise.withResolvers<Error>();
  #fault: Error | null = null;

  constructor(parts: LineStreamParts) {
    this.#parts = parts;
    this.ended = this.#endedWith.promise;
    // a pipe that breaks says less than the exit behind it
    parts.stdin.on('error', () => undefined);
    void this.#watch(this.#read());
  }

  get hasEnded(): boolean {
    return this.#fault !== null;
  }

  /** Only the first call counts. */
  end(fault: Error): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#parts.onEnd?.(fault);
    this.#endedWith.resolve(fault);
    this.#parts.stdout.destroy();
  }

  /** Writes a message when `stored` has resolved. A message that cannot be stored ends the stream. Rejects with its fault. */
  async say(message: object, store: () => Promise<unknown>): Promise<void> {
    this.#throwIfEnded();
    try {
      await store();
    } catch (error) {
      const fault = asError(error);
      this.end(fault);
      throw fault;
    }
    this.#throwIfEnded();
    this.write(message);
  }

  /** Writes what needs not be stored, without waiting. */
  write(message: object): void {
    this.#parts.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #throwIfEnded(): void {
    if (this.#fault !== null) throw this.#fault;
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#parts.stdout)) {
        if (this.#fault !== null) return;
        await this.#parts.take(line);
      }
    } catch (error) {
      this.end(asError(error));
    }
  }

  /** The process can go before its last words are read, and its output can close before it goes. */
  async #watch(reading: Promise<void>): Promise<void> {
    const { gone, closed = closedOutput() } = this.#parts;
    await Promise.race([gone, reading]);
    const grace = delay(DRAIN_MS, closed, { ref: false });
    await Promise.race([reading, grace]);
    this.end(await Promise.race([gone, grace]));
  }
}

/** What a frame shows of a line that is no message. */
export function shownLine(line: string): string {
  return previewText(line, MALFORMED_SHOWN_CHARS);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

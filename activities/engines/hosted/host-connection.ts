import { setTimeout as delay } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import { linesOf } from '../wire/json-lines.ts';
import { HostSaying, type HostCommand } from './host-protocol.ts';

/** How long what a host wrote before it died is still read: a descendant may hold its output open for ever. */
const DRAIN_MS = 1_000;
const MALFORMED_SHOWN_CHARS = 2_000;

export interface HostConnectionParts {
  readonly process: EngineProcess;
  /** Resolves when the process has gone, with the fault that it is. */
  readonly gone: Promise<TidemarkError>;
  /** Takes what the host says; the next is read when it has been taken. */
  hear(saying: HostSaying): Promise<void>;
  /** Stores a line that is none. */
  recordMalformed(text: string): Promise<void>;
}

/**
 * The driver's side of the conversation with a host.
 *
 * **Contract:** when the host ends, says what is not its protocol, or a saying cannot be taken, `ended` resolves with that fault, once.
 */
export class HostConnection {
  readonly ended: Promise<Error>;
  readonly #parts: HostConnectionParts;
  readonly #end = Promise.withResolvers<Error>();
  #hasEnded = false;

  constructor(parts: HostConnectionParts) {
    this.#parts = parts;
    this.ended = this.#end.promise;
    void this.#watch(this.#read());
  }

  /** A host that has gone does not hear it; `ended` says so. */
  tell(command: HostCommand): void {
    if (!this.#hasEnded) this.#parts.process.stdin.write(`${JSON.stringify(command)}\n`);
  }

  end(fault: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#end.resolve(fault);
    this.#parts.process.stdout.destroy();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#parts.process.stdout)) {
        if (this.#hasEnded) return;
        await this.#parts.hear(await this.#sayingOf(line));
      }
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #sayingOf(line: string): Promise<HostSaying> {
    try {
      return HostSaying.parse(JSON.parse(line));
    } catch (cause) {
      await this.#parts.recordMalformed(previewText(line, MALFORMED_SHOWN_CHARS));
      throw new TidemarkError(
        'engine_protocol_error',
        "the host of an agent wrote what is not the host's protocol",
        'The frame `malformed` of the run shows the line. Keep the module from writing to descriptors that it did not open.',
        { cause },
      );
    }
  }

  /** The process can go before its last words are read, and its output can close before it goes. */
  async #watch(reading: Promise<void>): Promise<void> {
    const { gone } = this.#parts;
    const closed = reading.then(() => CLOSED);
    await Promise.race([gone, closed]);
    const grace = delay(DRAIN_MS, CLOSED, { ref: false });
    await Promise.race([reading, grace]);
    this.end(await Promise.race([gone, grace]));
  }
}

const CLOSED = new TidemarkError(
  'engine_lost',
  'the agent closed its output and said no more',
  'Send the message again; its session is taken up where it can be.',
);

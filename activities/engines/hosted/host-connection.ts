import { TidemarkError } from '../../../contract/errors.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import { LineStream, shownLine } from '../wire/line-stream.ts';
import { HostSaying, type HostCommand } from './host-protocol.ts';

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
  readonly #stream: LineStream;

  constructor(parts: HostConnectionParts) {
    this.#parts = parts;
    const { process, gone } = parts;
    this.#stream = new LineStream({
      stdin: process.stdin,
      stdout: process.stdout,
      gone,
      closed: CLOSED,
      take: async (line) => await parts.hear(await this.#sayingOf(line)),
    });
    this.ended = this.#stream.ended;
  }

  /** A host that has gone does not hear it; `ended` says so. */
  tell(command: HostCommand): void {
    if (!this.#stream.hasEnded) this.#stream.write(command);
  }

  end(fault: Error): void {
    this.#stream.end(fault);
  }

  async #sayingOf(line: string): Promise<HostSaying> {
    try {
      return HostSaying.parse(JSON.parse(line));
    } catch (cause) {
      await this.#parts.recordMalformed(shownLine(line));
      throw new TidemarkError(
        'engine_protocol_error',
        "the host of an agent wrote what is not the host's protocol",
        'The frame `malformed` of the run shows the line. Keep the module from writing to descriptors that it did not open.',
        { cause },
      );
    }
  }
}

const CLOSED = new TidemarkError(
  'engine_lost',
  'the agent closed its output and said no more',
  'Send the message again; its session is taken up where it can be.',
);

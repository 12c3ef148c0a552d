import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

const TAIL_CHARS = 8 * 1_024;
const LINE_CHARS = 2_000;

/** The end of what a process writes to standard error, for the one who must find out why it ended. */
export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onLine: (line: string) => void;
  #tail = '';
  #line = '';
  /** Settles when nothing more comes. */
  readonly ended: Promise<void>;

  constructor(stream: Readable, onLine: (line: string) => void) {
    this.#onLine = onLine;
    stream.on('data', (chunk: Buffer) => this.#take(this.#decoder.write(chunk)));
    stream.on('error', () => {});
    this.ended = new Promise((resolve) => {
      stream.once('close', () => {
        this.#take(this.#decoder.end());
        if (this.#line !== '') this.#onLine(this.#line);
        resolve();
      });
    });
  }

  get text(): string {
    return this.#tail.trim();
  }

  #take(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARS);
    const lines = (this.#line + text).split('\n');
    this.#line = (lines.pop() ?? '').slice(0, LINE_CHARS);
    for (const line of lines) if (line.trim() !== '') this.#onLine(line.slice(0, LINE_CHARS));
  }
}

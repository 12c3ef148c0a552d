import { StringDecoder } from 'node:string_decoder';

/** Of one output, at most so much is shown while it comes. */
const SHOWN_CHARS = 256 * 1024;
const PIECE_CHARS = 4_000;
const FIRST_PAUSE_MS = 200;
/** Each piece waits so much longer than the one before: hundreds of pieces an hour, not thousands. */
const LONGER_MS = 10;

/**
 * Shows an output while it comes: little by little at first, and the rarer the longer it takes.
 *
 * **Contract:** what is shown is the beginning of the output, in order and whole characters; bytes that are no UTF-8 are shown
 * as U+FFFD. Over the limit it says so and shows no more. Nothing is shown after `end`.
 */
export class ShownOutput {
  readonly #show: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #waiting = '';
  #shownChars = 0;
  #pieces = 0;
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  append(chunk: Buffer): void {
    if (!this.#isOver) this.#take(this.#decoder.write(chunk));
  }

  end(): void {
    if (!this.#isOver) this.#take(this.#decoder.end());
    this.#flush();
    this.#isOver = true;
  }

  #take(text: string): void {
    const room = SHOWN_CHARS - this.#shownChars - this.#waiting.length;
    this.#waiting += text.slice(0, room);
    if (text.length > room) {
      this.#waiting += '\n[the output goes on; it is shown no further]\n';
      this.#isOver = true;
    }
    if (this.#isOver || this.#waiting.length >= PIECE_CHARS) this.#flush();
    else if (this.#waiting !== '') {
      this.#timer ??= setTimeout(() => this.#flush(), FIRST_PAUSE_MS + this.#pieces * LONGER_MS).unref();
    }
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const text = this.#waiting.toWellFormed();
    if (text === '') return;
    this.#waiting = '';
    this.#shownChars += text.length;
    this.#pieces += 1;
    this.#show(text);
  }
}

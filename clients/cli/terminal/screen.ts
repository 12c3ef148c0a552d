import { clearLine, createInterface, cursorTo, emitKeypressEvents, type Interface } from 'node:readline';
import type { Streams } from '../streams.ts';
import { visible } from '../visible.ts';
import { painter, type Paint, type Style } from './style.ts';

export interface ScreenHandlers {
  readonly onLine: (line: string) => void;
  readonly onCtrlC: () => void;
  /** The input has ended: Ctrl-D, or the end of a pipe. */
  readonly onEnd: () => void;
}

/**
 * Lines in, text and lines out, on a terminal or on pipes.
 *
 * **Contract:** what others have said is made visible before it is written. On a terminal, what comes while a line is being
 * typed is held back until that line is done, so that the two do not mix.
 */
export class Screen {
  readonly isTerminal: boolean;
  readonly #streams: Streams;
  readonly #paint: Paint;
  readonly #lines: Interface;
  #prompt = '';
  #isPromptShown = false;
  #isAtLineStart = true;
  #held = '';
  #endsHeldLine = true;
  /** The first half of a character that was cut between two deltas. */
  #half = '';
  #isOpen = true;

  constructor(streams: Streams, { isColourless, ...handlers }: ScreenHandlers & { readonly isColourless: boolean }) {
    const { input, output } = streams;
    this.#streams = streams;
    this.isTerminal = input.isTTY === true && output.isTTY === true;
    this.#paint = painter(output.isTTY === true && !isColourless);
    if (this.isTerminal) {
      // before readline's own listener, which shows the key at once
      emitKeypressEvents(input);
      input.on('keypress', this.#onKey);
    }
    this.#lines = createInterface({ input, output: this.isTerminal ? output : undefined, terminal: this.isTerminal });
    this.#lines.on('line', (line) => {
      this.#isPromptShown = false;
      this.#isAtLineStart = true;
      this.#release();
      handlers.onLine(line);
    });
    this.#lines.on('SIGINT', () => {
      if (this.#lines.line !== '') this.fill('');
      else handlers.onCtrlC();
    });
    this.#lines.on('close', () => {
      if (this.#isOpen) handlers.onEnd();
    });
  }

  /** Running text: it goes on where the last one ended. */
  text(text: string, style: Style = 'plain'): void {
    const whole = this.#half + text;
    const isCut = /[\ud800-\udbff]$/.test(whole);
    this.#half = isCut ? whole.slice(-1) : '';
    this.#write(visible(isCut ? whole.slice(0, -1) : whole), style);
  }

  /** A line, or several, of its own. */
  line(text: string, style: Style = 'plain'): void {
    this.endText();
    this.#write(`${visible(text)}\n`, style);
  }

  /** Ends running text; what comes next begins a line. */
  endText(): void {
    this.#half = '';
    if (this.#held === '' ? !this.#isAtLineStart : !this.#endsHeldLine) this.#write('\n', 'plain');
  }

  /** Invites a line. */
  ask(prompt: string): void {
    this.#prompt = prompt;
    if (!this.isTerminal || !this.#isOpen || this.#lines.line !== '') return;
    this.#showPrompt();
  }

  /** What is shown when a key is pressed while nothing invites it. */
  invite(prompt: string): void {
    this.#prompt = prompt;
  }

  /** Puts a text into the line, to be edited. */
  fill(text: string): void {
    if (!this.isTerminal) return;
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    if (text !== '') this.#lines.write(text);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#isPromptShown) this.#hidePrompt();
    this.#release();
    this.endText();
    this.#streams.input.off('keypress', this.#onKey);
    this.#lines.close();
  }

  readonly #onKey = (): void => {
    if (!this.#isPromptShown && this.#isOpen) this.#showPrompt();
  };

  #write(text: string, style: Style): void {
    if (text === '') return;
    const painted = this.#paint(style, text);
    if (this.#isPromptShown && this.#lines.line !== '') {
      this.#held += painted;
      this.#endsHeldLine = text.endsWith('\n');
      return;
    }
    if (this.#isPromptShown) this.#hidePrompt();
    this.#streams.output.write(painted);
    this.#isAtLineStart = text.endsWith('\n');
  }

  #release(): void {
    const held = this.#held;
    this.#held = '';
    if (held === '') return;
    this.#streams.output.write(held);
    this.#isAtLineStart = this.#endsHeldLine;
  }

  #showPrompt(): void {
    if (!this.#isAtLineStart) this.#streams.output.write('\n');
    this.#isAtLineStart = true;
    this.#lines.setPrompt(this.#paint('cyan', this.#prompt));
    this.#lines.prompt(true);
    this.#isPromptShown = true;
  }

  #hidePrompt(): void {
    cursorTo(this.#streams.output, 0);
    clearLine(this.#streams.output, 0);
    this.#isPromptShown = false;
  }
}

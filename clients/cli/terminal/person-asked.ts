import { TidemarkApiError } from '../../typescript/api-error.ts';
import type { ChatSession } from '../chat-session.ts';
import type { Dialog } from './dialog.ts';
import { dialogOf } from './dialog-of.ts';
import type { Screen } from './screen.ts';

interface Asking {
  readonly interruptId: string;
  readonly dialog: Dialog;
}

/**
 * Asks the person, one after the other, what the conversation waits for.
 *
 * **Contract:** an interrupt that is answered elsewhere meanwhile is not asked on. What the person leaves for later stays open and
 * is not asked again by itself.
 */
export class PersonAsked {
  readonly #session: ChatSession;
  readonly #screen: Screen;
  readonly #later = new Set<string>();
  #asking: Asking | null = null;

  constructor(session: ChatSession, screen: Screen) {
    this.#session = session;
    this.#screen = screen;
  }

  get isAsking(): boolean {
    return this.#asking !== null;
  }

  /** Looks at what is open: ends what is not any more, begins what comes next. */
  async turn(): Promise<void> {
    if (this.#asking !== null && !this.#session.openInterrupts.includes(this.#asking.interruptId)) {
      this.#asking = null;
      this.#screen.line('— it is answered', 'dim');
    }
    while (this.#asking === null) {
      const next = this.#session.openInterrupts.find((id) => !this.#later.has(id));
      if (next === undefined) return;
      const interrupt = await this.#session.client.interrupts.get(next);
      if (interrupt.status !== 'pending') {
        this.#later.add(next);
        continue;
      }
      this.#asking = { interruptId: next, dialog: dialogOf(interrupt) };
      const [first = '', ...more] = this.#asking.dialog.intro();
      this.#screen.line(first, 'yellow');
      for (const line of more) this.#screen.line(line);
    }
  }

  invite(): void {
    if (this.#asking === null) return;
    const { dialog } = this.#asking;
    this.#screen.ask(dialog.prompt());
    const draft = dialog.draft();
    if (draft !== null) this.#screen.fill(draft);
  }

  async take(line: string): Promise<void> {
    if (this.#asking === null) return;
    const { interruptId, dialog } = this.#asking;
    const reply = dialog.take(line);
    if ('say' in reply) {
      if (reply.say !== null) this.#screen.line(reply.say, 'dim');
      return;
    }
    this.#asking = null;
    if ('later' in reply) {
      this.#later.add(interruptId);
      this.#screen.line('— left open; /ask comes back to it', 'dim');
    } else {
      await this.#session.resolve(interruptId, reply.decision).catch((error: unknown) => {
        if (error instanceof TidemarkApiError && error.code === 'interrupt_already_resolved') {
          this.#later.add(interruptId);
          return this.#screen.line('— it is answered already', 'dim');
        }
        throw error;
      });
    }
    await this.turn();
  }

  /** Leaves what is being asked open, as `dismiss` says. */
  leave(): void {
    if (this.#asking !== null) this.#later.add(this.#asking.interruptId);
    this.#asking = null;
  }

  /** Asks what was left open. */
  async again(): Promise<void> {
    this.#later.clear();
    await this.turn();
    if (this.#asking === null) this.#screen.line('— nothing is open', 'dim');
  }
}

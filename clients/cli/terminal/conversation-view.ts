import type { CanonicalEventOf, DeliveredEvent } from '../../../contract/canonical.ts';
import { RunFold } from '../../typescript/run-fold.ts';
import { isOfChild, messageTexts } from '../../typescript/run-text.ts';
import type { ThreadItem } from '../../typescript/thread-item.ts';
import { activityLine } from '../activity-line.ts';
import type { Screen } from './screen.ts';

/**
 * A conversation on a screen, as it comes: text as it streams, reasoning dimmed, a line for everything else.
 *
 * **Contract:** what was shown and then withdrawn is said to be so; when a run is proven and a message of it reads otherwise
 * than was shown, the true text is shown.
 */
export class ConversationView {
  readonly #screen: Screen;
  readonly #folds = new Map<string, RunFold>();
  /** What was shown of each message. */
  readonly #shown = new Map<string, string>();
  /** The deltas that are on the screen. */
  readonly #onScreen = new Set<string>();
  /** Inputs that the person has typed here, so that the screen has them. */
  readonly #typed: string[] = [];
  /** The message or reasoning whose text was shown last. */
  #open: string | null = null;
  #withdrawnIn: string | null = null;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  typed(text: string): void {
    this.#typed.push(text);
  }

  show(item: ThreadItem): void {
    switch (item.type) {
      case 'event':
        return this.#event(item.event);
      case 'complete':
        return this.#correct(item.complete.runId);
      case 'cursor-lost':
        return this.#screen.line('— the beginning of this conversation is not there any more', 'dim');
      case 'gone':
        return this.#screen.line('— this conversation was erased', 'yellow');
      case 'caught-up':
        return;
    }
  }

  #event(event: DeliveredEvent): void {
    const isNews = this.#foldOf(event.runId).add(event);
    if (!isNews) return;
    if (event.retracted === true) return this.#withdraw(event);
    if (event.kind === 'turn.started') return this.#input(event.input ?? '');
    if (event.kind === 'message.delta' || event.kind === 'reasoning.delta') return this.#delta(event);
    if (event.kind === 'terminal.output') return this.#text(`output ${event.terminalId ?? ''}`, event.chunk, 'dim');
    const isCancelled = event.kind === 'turn.completed' && event.stopReason === 'cancelled';
    const line = isCancelled ? '— cancelled' : activityLine(event);
    if (line !== null || event.kind === 'turn.completed') this.#close();
    if (line === null) return;
    const isFault = event.kind === 'harness.error' || (event.kind === 'tool.completed' && event.status === 'error');
    this.#screen.line(line, isFault ? 'red' : 'dim');
  }

  #delta(event: CanonicalEventOf<'message.delta' | 'reasoning.delta'> & DeliveredEvent): void {
    // a revision of what is on the screen is told when the run is proven
    if (this.#onScreen.has(event.eventId) || isOfChild(event)) return;
    this.#onScreen.add(event.eventId);
    if (event.kind === 'reasoning.delta') return this.#text(`reasoning ${event.messageId}`, event.text, 'dim');
    this.#shown.set(event.messageId, (this.#shown.get(event.messageId) ?? '') + event.text);
    this.#text(`message ${event.messageId}`, event.text, 'plain');
  }

  #input(input: string): void {
    this.#close();
    const typed = this.#typed.findIndex((text) => text.startsWith(input));
    if (typed !== -1) this.#typed.splice(typed, 1);
    if (typed === -1 || !this.#screen.isTerminal) this.#screen.line(`> ${input}`, 'bold');
  }

  #text(part: string, text: string, style: 'plain' | 'dim'): void {
    if (this.#open !== part) this.#close();
    this.#open = part;
    this.#screen.text(text, style);
  }

  #close(): void {
    if (this.#open !== null) this.#screen.endText();
    this.#open = null;
  }

  #withdraw(event: DeliveredEvent): void {
    this.#onScreen.delete(event.eventId);
    if (event.kind !== 'message.delta' || !this.#shown.has(event.messageId)) return;
    this.#shown.delete(event.messageId);
    if (this.#withdrawnIn === event.messageId) return;
    this.#withdrawnIn = event.messageId;
    this.#close();
    this.#screen.line('— this step is repeated; what it said above is withdrawn', 'yellow');
  }

  #correct(runId: string): void {
    const events = this.#folds.get(runId)?.events() ?? [];
    this.#folds.delete(runId);
    for (const { eventId } of events) this.#onScreen.delete(eventId);
    for (const { messageId, text } of messageTexts(events)) {
      if (text !== '' && this.#shown.get(messageId) !== text) {
        this.#close();
        this.#screen.line('— corrected:', 'yellow');
        this.#screen.line(text);
      }
      this.#shown.delete(messageId);
    }
  }

  #foldOf(runId: string): RunFold {
    const fold = this.#folds.get(runId) ?? new RunFold();
    this.#folds.set(runId, fold);
    return fold;
  }
}

import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { SIGNAL } from '../contract/messages.ts';

const wake = defineSignal(SIGNAL.wake);
const resolveInterrupt = defineSignal<[unknown]>(SIGNAL.resolveInterrupt);

/**
 * What signals bring. Handlers only enqueue: all work is done by the workflow's body, in order (research, §0.12).
 */
export class Inbox {
  #wakes = 0;
  #seen = 0;
  #answers: unknown[] = [];

  constructor() {
    const look = 'Look at the rows again. Carries nothing; sent by the gateway and the dispatcher.';
    const answer = 'Answer an interrupt: {"interrupt_id":"int_…","decision":"approve"}; see the current details.';
    setHandler(wake, () => void (this.#wakes += 1), { description: look });
    setHandler(resolveInterrupt, (payload) => void this.#answers.push(payload), { description: answer });
  }

  /** Answers that came by signal and were not recorded yet. */
  takeAnswers(): unknown[] {
    return this.#answers.splice(0);
  }

  /** A signal came that was not seen yet. */
  get hasNews(): boolean {
    return this.#wakes > this.#seen || this.#answers.length > 0;
  }

  markSeen(): void {
    this.#seen = this.#wakes;
  }

  /** Waits for a signal that was not seen yet, or for the time to look again anyway. */
  async wait(timeoutMs: number): Promise<void> {
    await condition(() => this.hasNews, timeoutMs);
    this.markSeen();
  }
}

/**
 * How long to wait before looking at the rows without a signal: a minute, then longer, at most an hour. A signal that is lost
 * is sent again by the dispatcher, so this only bounds what nobody foresaw (docs/decisions/0003).
 */
export function lookAgainMs(looks: number): number {
  return Math.min(60_000 * 2 ** looks, 3_600_000);
}

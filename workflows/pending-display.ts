import type { Inbox } from './inbox.ts';
import { local } from './proxies.ts';
import { howToAnswer, showState } from './run-display.ts';

/** What the Temporal UI shows of the questions that a run has open. */
export class PendingDisplay {
  readonly #runId: string;
  #shown = '';

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Records the answers that came as signals, and shows what is open. */
  async refresh(inbox: Inbox): Promise<{ open: number; expiresInMs: number | null }> {
    for (const answer of inbox.takeAnswers()) await local.recordDecision({ runId: this.#runId, answer });
    const { pending, expiresInMs } = await local.pendingQuestions(this.#runId);
    this.#show(pending.length === 0 ? '' : howToAnswer(pending));
    return { open: pending.length, expiresInMs };
  }

  /** Shows that nothing is waited for any more. */
  clear(): void {
    this.#show('');
  }

  #show(details: string): void {
    if (details !== this.#shown) showState(details === '' ? 'running' : 'waiting', details === '' ? 'works' : details);
    this.#shown = details;
  }
}

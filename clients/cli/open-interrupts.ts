import type { DeliveredEvent } from '../../contract/canonical.ts';
import type { ThreadItem } from '../typescript/thread-item.ts';

/** What of a thread waits for a person, from its deliveries. */
export class OpenInterrupts {
  /** The run of each, in the order in which they were asked. */
  readonly #runs = new Map<string, string>();
  /** Answered, though the stream may not have said so yet. */
  readonly #closed = new Set<string>();

  get ids(): readonly string[] {
    return [...this.#runs.keys()];
  }

  open(interruptId: string, runId: string): void {
    if (!this.#closed.has(interruptId)) this.#runs.set(interruptId, runId);
  }

  close(interruptId: string): void {
    this.#closed.add(interruptId);
    this.#runs.delete(interruptId);
  }

  take(item: ThreadItem): void {
    if (item.type !== 'event') return;
    const { event } = item;
    if (event.kind === 'approval.requested') this.#asked(event.approvalId, event);
    else if (event.kind === 'question.requested') this.#asked(event.questionId, event);
    else if (event.kind === 'approval.resolved') this.close(event.approvalId);
    else if (event.kind === 'question.resolved') this.close(event.questionId);
    else if (event.kind === 'turn.completed') this.#endRun(event.runId);
  }

  #asked(id: string, { runId, retracted }: DeliveredEvent): void {
    if (retracted === true) this.#runs.delete(id);
    else this.open(id, runId);
  }

  #endRun(ended: string): void {
    for (const [id, runId] of this.#runs) if (runId === ended) this.#runs.delete(id);
  }
}

import type { ThreadItem } from '../typescript/thread-item.ts';

/** Which runs of a thread have begun and not ended, from its deliveries. */
export class LiveRuns {
  readonly #live = new Set<string>();
  readonly #ended = new Set<string>();

  get isIdle(): boolean {
    return this.#live.size === 0;
  }

  /** The run that began first of those that live: the one that has the turn. */
  get active(): string | null {
    return this.#live.values().next().value ?? null;
  }

  /** A run that a request has started. Its end may have been delivered before the request was answered. */
  add(runId: string): void {
    if (!this.#ended.has(runId)) this.#live.add(runId);
  }

  take(item: ThreadItem): void {
    if (item.type !== 'event' || item.event.retracted === true) return;
    const { kind, runId } = item.event;
    if (kind === 'turn.started') this.add(runId);
    if (kind !== 'turn.completed') return;
    this.#live.delete(runId);
    this.#ended.add(runId);
  }
}

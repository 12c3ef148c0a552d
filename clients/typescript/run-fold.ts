import type { CanonicalEvent, DeliveredEvent } from '../../contract/canonical.ts';
import { digestLines } from '../../contract/sealed-translation.ts';

/**
 * What a run says, from its deliveries in any order.
 *
 * **Contract:** each event at its highest revision, without those that were withdrawn, in the order of the run. To add a
 * delivery again changes nothing.
 */
export class RunFold {
  readonly #latest = new Map<string, DeliveredEvent>();

  /** False for a delivery that says nothing new. */
  add(event: DeliveredEvent): boolean {
    const held = this.#latest.get(event.eventId);
    if (held !== undefined && event.revision <= held.revision) return false;
    this.#latest.set(event.eventId, event);
    return true;
  }

  events(): DeliveredEvent[] {
    const kept = [...this.#latest.values()].filter(({ retracted }) => retracted !== true);
    return kept.toSorted((a, b) => a.seq - b.seq);
  }
}

/** The events of one run, folded from deliveries of its thread. */
export function foldRun(events: Iterable<DeliveredEvent>, runId: string): DeliveredEvent[] {
  const fold = new RunFold();
  for (const event of events) if (event.runId === runId) fold.add(event);
  return fold.events();
}

/** The bytes that a completion record's digest is the SHA-256 of, for folded events. */
export function digestBytes(events: readonly DeliveredEvent[]): Uint8Array<ArrayBuffer> {
  const truth = events.map(({ deliverySeq: _seq, revision: _revision, retracted: _retracted, ...event }) => ({
    event: event as CanonicalEvent,
    stepIndex: null,
    retracted: false,
  }));
  return new TextEncoder().encode([...digestLines(truth)].join(''));
}

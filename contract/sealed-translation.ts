import type { CanonicalEvent } from './canonical.ts';
import { canonicalJson } from './canonical-json.ts';
import type { FrameSegment } from './frames.ts';
import {
  INITIAL_LANE_STATE,
  translateSegment,
  type LaneIdentity,
  type LaneState,
  type TranslateFrame,
} from './translation.ts';

export interface TruthEvent {
  readonly event: CanonicalEvent;
  readonly stepIndex: number | null;
  readonly retracted: boolean;
}

/**
 * A sealed lane translated from scratch: the same reducer that ran live, over the same segments (design §3.6).
 *
 * **Contract:** after the last segment, `events` is what the log must say: for each event id its `seq`, its body, and whether
 * the truth contains it.
 */
export class SealedTranslation {
  readonly events = new Map<string, TruthEvent>();
  readonly #lane: LaneIdentity;
  readonly #engine: TranslateFrame;
  #state: LaneState = INITIAL_LANE_STATE;
  #nextSeq = 0;

  constructor(lane: LaneIdentity, engine: TranslateFrame) {
    this.#lane = lane;
    this.#engine = engine;
  }

  add(segment: FrameSegment): void {
    const { state, operations } = translateSegment(this.#lane, this.#state, segment, this.#engine);
    this.#state = state;
    for (const operation of operations) {
      if (operation.op === 'retract-step') {
        for (const [id, said] of this.events) {
          if (said.stepIndex === operation.stepIndex) this.events.set(id, { ...said, retracted: true });
        }
        continue;
      }
      const { eventId } = operation.event;
      const seq = this.events.get(eventId)?.event.seq ?? this.#nextSeq++;
      const event = { ...operation.event, seq } as CanonicalEvent;
      this.events.set(eventId, { event, stepIndex: operation.stepIndex, retracted: false });
    }
  }
}

/** An event as the log holds it at its highest revision. */
export interface SaidEvent extends TruthEvent {
  readonly revision: number;
}

/**
 * What must be written so that the log says the truth: changed events at the next revision, missing ones at revision 0, and
 * retractions of what the truth does not contain (design, invariant 3). Nothing for what is right already.
 */
export function revisionsToTruth(truth: ReadonlyMap<string, TruthEvent>, said: readonly SaidEvent[]): SaidEvent[] {
  const held = new Map(said.map((event) => [event.event.eventId, event]));
  const revisions: SaidEvent[] = [];
  for (const [eventId, wanted] of truth) {
    const current = held.get(eventId);
    if (current === undefined) {
      if (!wanted.retracted) revisions.push({ ...wanted, revision: 0 });
    } else if (current.retracted !== wanted.retracted || !sameEvent(current.event, wanted.event)) {
      revisions.push({ ...wanted, revision: current.revision + 1 });
    }
  }
  for (const current of said) {
    if (truth.has(current.event.eventId) || current.retracted) continue;
    revisions.push({ ...current, revision: current.revision + 1, retracted: true });
  }
  return revisions.toSorted((a, b) => a.event.seq - b.event.seq);
}

function sameEvent(a: CanonicalEvent, b: CanonicalEvent): boolean {
  return JSON.stringify(a) === JSON.stringify(b) || canonicalJson(a) === canonicalJson(b);
}

/**
 * The bytes that a run's digest is the SHA-256 of: its events at their highest revision, without the retracted ones, in `seq`
 * order, each as canonical JSON (RFC 8785) and a newline. Delivery fields are not part of it.
 */
export function* digestLines(events: Iterable<TruthEvent>): Generator<string> {
  const kept = [...events].filter(({ retracted }) => !retracted).toSorted((a, b) => a.event.seq - b.event.seq);
  for (const { event } of kept) yield `${canonicalJson(event)}\n`;
}

/** What proves a run complete; delivered on the thread stream as `canonical-complete`. */
export interface CompletionRecord {
  readonly runId: string;
  readonly status: 'complete' | 'complete_degraded';
  readonly watermark: { readonly frameSeq: number; readonly frameDigest: string; readonly stepSignature: string };
  /** SHA-256, hex, over `digestLines`. */
  readonly digest: string;
  /** How many events the digest covers. */
  readonly events: number;
}

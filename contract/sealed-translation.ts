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

/** An event at the revision that must be written. */
export interface SaidEvent extends TruthEvent {
  readonly revision: number;
}

/** An event as the log holds it at its highest revision; `body` is its stored text, parsed only where it must be. */
export interface StoredEvent {
  readonly body: string;
  readonly stepIndex: number | null;
  readonly revision: number;
  readonly retracted: boolean;
}

/**
 * What must be written so that the log says the truth: changed events at the next revision, missing ones at revision 0, and
 * retractions of what the truth does not contain (design, invariant 3). Null for each event that is right already, so that a
 * caller can let other work in between.
 */
export function* revisionsToTruth(
  truth: ReadonlyMap<string, TruthEvent>,
  stored: ReadonlyMap<string, StoredEvent>,
): Generator<SaidEvent | null> {
  for (const [eventId, wanted] of truth) yield revisionOf(wanted, stored.get(eventId));
  for (const [eventId, { body, stepIndex, revision, retracted }] of stored) {
    if (truth.has(eventId) || retracted) continue;
    yield { event: JSON.parse(body) as CanonicalEvent, stepIndex, revision: revision + 1, retracted: true };
  }
}

function revisionOf(wanted: TruthEvent, current: StoredEvent | undefined): SaidEvent | null {
  if (current === undefined) return wanted.retracted ? null : { ...wanted, revision: 0 };
  if (current.retracted === wanted.retracted && saysSame(current.body, wanted.event)) return null;
  return { ...wanted, revision: current.revision + 1 };
}

/** The live reducer stored the text that this one gives again: comparing it costs a fraction of parsing it. */
function saysSame(body: string, event: CanonicalEvent): boolean {
  return body === JSON.stringify(event) || canonicalJson(JSON.parse(body)) === canonicalJson(event);
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

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CanonicalEvent } from '../contract/canonical.ts';
import type { CompletionRecord, TruthEvent } from '../contract/sealed-translation.ts';
import { findCompletion } from '../infra/postgres/complete-run.ts';
import { storedEventsOfRun } from '../infra/postgres/delivery.ts';
import { segmentsOf } from '../infra/postgres/frame.ts';
import { chainDigest } from '../infra/postgres/lane-segment.ts';
import { EMPTY_DIGEST } from '../infra/postgres/lane.ts';
import type { RunRow } from '../infra/postgres/run.ts';
import type { Queryable } from '../infra/postgres/transaction.ts';
import { digestOfEvents } from '../infra/run-digest.ts';

/** Events parsed before other work of this process gets its turn. */
const EVENTS_PER_TURN = 500;

/** What can be said of a run's proof from what is stored. */
export interface Verification {
  /** Null: what the proof is about was removed by retention, so nothing can be said. */
  readonly holds: boolean | null;
  /** What was held against the record. */
  readonly checked: readonly ('events' | 'frames')[];
  readonly recorded: CompletionRecord | null;
  readonly computed: { readonly digest: string; readonly events: number; readonly frameDigest: string | null } | null;
}

/**
 * Computes a run's digests from what is stored and holds them against its completion record.
 *
 * **Contract:** says what it has checked. Without the frames it is the log's digest alone; without the run's events, in which the
 * record is, it is nothing.
 */
export async function verifyRun(db: Queryable, run: RunRow): Promise<Verification> {
  if (run.deliveries_removed_at !== null) return { holds: null, checked: [], recorded: null, computed: null };
  const recorded = await findCompletion(db, run.run_id);
  const log = await digestOfEvents(await eventsOf(db, run.run_id));
  const frameDigest = run.frames_removed_at === null ? await digestOfFrames(db, run.run_id) : null;
  const framesHold = frameDigest === null || recorded?.watermark.frameDigest === frameDigest;
  return {
    holds: recorded !== null && recorded.digest === log.digest && framesHold,
    checked: frameDigest === null ? ['events'] : ['events', 'frames'],
    recorded,
    computed: { ...log, frameDigest },
  };
}

/** What a consumer that read the whole log holds, parsed a part at a time. */
async function eventsOf(db: Queryable, runId: string): Promise<TruthEvent[]> {
  const events: TruthEvent[] = [];
  for (const { body, stepIndex, retracted } of (await storedEventsOfRun(db, runId)).values()) {
    events.push({ event: JSON.parse(body) as CanonicalEvent, stepIndex, retracted });
    if (events.length % EVENTS_PER_TURN === 0) await nextTurn();
  }
  return events;
}

async function digestOfFrames(db: Queryable, runId: string): Promise<string> {
  let digest = EMPTY_DIGEST;
  for await (const { payload } of segmentsOf(db, runId)) digest = chainDigest(digest, payload);
  return digest;
}

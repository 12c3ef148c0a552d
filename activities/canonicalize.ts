import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  revisionsToTruth,
  SealedTranslation,
  type CompletionRecord,
  type SaidEvent,
  type StoredEvent,
  type TruthEvent,
} from '../contract/sealed-translation.ts';
import { crashPoint } from '../infra/crash-point.ts';
import { captureLossesOf } from '../infra/postgres/capture-loss.ts';
import { completeRun } from '../infra/postgres/complete-run.ts';
import { storedEventsOfRun } from '../infra/postgres/delivery.ts';
import { segmentsOf } from '../infra/postgres/frame.ts';
import { EMPTY_DIGEST } from '../infra/postgres/lane.ts';
import { chainDigest } from '../infra/postgres/lane-segment.ts';
import { claimIntent, failIntent, intentState, readWatermark } from '../infra/postgres/outbox.ts';
import { writeReplaySegments } from '../infra/postgres/replay-segment.ts';
import { digestOfEvents } from '../infra/run-digest.ts';
import type { Dependencies } from './dependencies.ts';
import { translateEngineFrame } from './engines/dialects.ts';

/** Failed attempts after which an intent stays dead until an operator retries it. */
const MAX_ATTEMPTS = 8;

/** Events compared or digested before other work of this process gets its turn. */
const EVENTS_PER_TURN = 500;

/** Segments translated before other work of this process gets its turn. */
const SEGMENTS_PER_TURN = 100;

/**
 * Proves a settled run complete (agent contract, "The completion discipline"): translates the sealed lane from scratch,
 * writes what the log said differently as new revisions, and completes only if the watermark held.
 *
 * **Contract:** safe to repeat and to run anywhere: a claim with a deadline keeps two workers apart. Returns false when another
 * worker holds the claim; throws, with the intent given back, when it could not be done.
 */
export function createCanonicalize({ pool, log }: Dependencies) {
  return async function canonicalize(runId: string): Promise<boolean> {
    const claim = await claimIntent(pool, runId);
    if (claim === null) return (await intentState(pool, runId)) !== 'translating';
    try {
      await prove(runId, claim.claim, claim.threadId);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await failIntent(pool, { runId, claim: claim.claim, error: message, maxAttempts: MAX_ATTEMPTS });
      log.error({ err: error, runId }, 'run not canonicalized; its intent is tried again');
      throw error;
    }
    await writeReplaySegments(pool, claim.threadId).catch((error: unknown) => {
      log.warn({ err: error, runId }, 'replay segments not written; rows serve the replay');
    });
    return true;
  };

  async function prove(runId: string, claim: number, threadId: string): Promise<void> {
    const watermark = await readWatermark(pool, runId);
    const translation = new SealedTranslation({ runId, threadId }, translateEngineFrame);
    let digest = EMPTY_DIGEST;
    let count = 0;
    for await (const segment of segmentsOf(pool, runId)) {
      digest = chainDigest(digest, segment.payload);
      translation.add(segment);
      crashPoint('translating');
      if (++count % SEGMENTS_PER_TURN === 0) await nextTurn();
    }
    if (digest !== watermark.frameDigest) throw new Error('the stored frames do not give the lane’s digest');
    const truth = translation.events;
    const revisions = await compare(truth, await storedEventsOfRun(pool, runId));
    const isWhole = (await captureLossesOf(pool, runId)).length === 0;
    const status = isWhole ? 'complete' : 'complete_degraded';
    const record: CompletionRecord = { runId, status, watermark, ...(await digestOfEvents(truth.values())) };
    const completion = await completeRun(pool, { runId, threadId, claim, watermark, revisions, record });
    crashPoint('complete.committed');
    if (completion === 'watermark-moved') throw new Error('the watermark moved while the run was translated');
    if (completion === 'complete')
      log.info({ runId, events: record.events, revisions: revisions.length }, 'run complete');
  }
}

async function compare(
  truth: ReadonlyMap<string, TruthEvent>,
  stored: ReadonlyMap<string, StoredEvent>,
): Promise<SaidEvent[]> {
  const revisions: SaidEvent[] = [];
  let count = 0;
  for (const revision of revisionsToTruth(truth, stored)) {
    if (revision !== null) revisions.push(revision);
    if (++count % EVENTS_PER_TURN === 0) await nextTurn();
  }
  return revisions.toSorted((a, b) => a.event.seq - b.event.seq);
}

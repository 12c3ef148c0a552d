import { hash } from 'node:crypto';
import type { CanonicalEvent } from '../../contract/canonical.ts';
import { boundFrame, type FrameSegment } from '../../contract/frames.ts';
import { translateSegment, type LaneState } from '../../contract/translation.ts';
import { foldedEventsOfSteps, type FoldedEvent } from './delivery.ts';
import type { LaneAppend } from './lane-append.ts';
import type { Queryable } from './transaction.ts';

/** What a transaction is about to write for one lane; the row's fields as they will be. */
export interface LaneWrite {
  readonly runId: string;
  readonly threadId: string;
  lastSeq: number;
  digest: string;
  nextEventSeq: number;
  state: string;
  readonly openSteps: Record<string, number>;
  sealed: boolean;
  refused: number;
  readonly segments: (FrameSegment & { readonly lastSeq: number; readonly payload: string })[];
  readonly deliveries: PendingDelivery[];
}

export interface PendingDelivery extends FoldedEvent {
  readonly runId: string;
  readonly deliverySeq: number;
}

/** Adds one segment to a write: bounds its frames, chains the digest, translates, numbers the events and deliveries. */
export async function addSegment(
  client: Queryable,
  write: LaneWrite,
  append: LaneAppend,
  heads: Map<string, number>,
): Promise<void> {
  const segment: FrameSegment = {
    firstSeq: write.lastSeq + 1,
    provider: append.provider,
    stepIndex: append.writer?.stepIndex ?? null,
    attempt: append.writer?.attempt ?? 1,
    frames: append.frames.map(({ at, frame }) => ({ at, frame: boundFrame(frame) })),
  };
  const payload = JSON.stringify(segment.frames);
  write.lastSeq += segment.frames.length;
  write.digest = chainDigest(write.digest, payload);
  write.segments.push({ ...segment, lastSeq: write.lastSeq, payload });

  const state = JSON.parse(write.state) as LaneState;
  const { state: next, operations } = translateSegment(write, state, segment, append.translate);
  write.state = JSON.stringify(next);

  // only a repeated step says again what the log may hold already
  const repeated = operations.filter(({ op }) => op === 'retract-step' || segment.attempt > 1);
  const known = await knownEvents(client, write, new Set(repeated.map(({ stepIndex }) => stepIndex ?? -1)));
  const deliver = (folded: FoldedEvent): void => {
    const deliverySeq = (heads.get(write.threadId) ?? 0) + 1;
    heads.set(write.threadId, deliverySeq);
    known.set(folded.event.eventId, folded);
    write.deliveries.push({ ...folded, runId: write.runId, deliverySeq });
  };
  for (const operation of operations) {
    if (operation.op === 'retract-step') {
      for (const said of Array.from(known.values())) {
        if (said.stepIndex !== operation.stepIndex || said.retracted) continue;
        deliver({ ...said, revision: said.revision + 1, retracted: true });
      }
      continue;
    }
    const earlier = known.get(operation.event.eventId);
    const event = { ...operation.event, seq: earlier?.event.seq ?? write.nextEventSeq++ } as CanonicalEvent;
    deliver({ event, stepIndex: operation.stepIndex, revision: (earlier?.revision ?? -1) + 1, retracted: false });
  }
}

/** The running digest over a lane's segments: SHA-256 (hex) of the one before, a newline and the segment's stored text. */
export function chainDigest(digest: string, payload: string): string {
  return hash('sha256', `${digest}\n${payload}`);
}

async function knownEvents(client: Queryable, write: LaneWrite, steps: Set<number>): Promise<Map<string, FoldedEvent>> {
  if (steps.size === 0) return new Map();
  const stored = await foldedEventsOfSteps(client, write.runId, [...steps]);
  const pending = write.deliveries.filter(({ stepIndex }) => stepIndex !== null && steps.has(stepIndex));
  return new Map([...stored, ...pending].map((folded) => [folded.event.eventId, folded]));
}

import { Context } from '@temporalio/activity';
import { handedOver } from './failures.ts';
import { TidemarkError } from '../contract/errors.ts';
import type { RunWatch } from './run-watch.ts';

/** Beaten by a timer from the first line, whatever the engine does (research, "Heartbeat throttling"). */
const HEARTBEAT_EVERY_MS = 2_500;

/**
 * Why the work was told to stop. `cancelled`: a person or the workflow wants the run to end. `handover`: this worker goes,
 * the next attempt does the step again. `lost`: the server gave the attempt up; nothing may be written any more.
 */
export type StopReason = 'cancelled' | 'handover' | 'lost';

export interface ActivityLife {
  readonly signal: AbortSignal;
  /** Null while nothing told it to stop. */
  stopReason(): StopReason | null;
  /** The attempt that Temporal counts, from 1. */
  readonly attempt: number;
}

/** Runs an activity's body with a heart and one signal that joins all the ways in which it may be stopped. */
export async function withLife<T>(
  watch: RunWatch,
  runId: string,
  body: (life: ActivityLife) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { signal: asked, release } = watch.watch(runId);
  const life: ActivityLife = {
    signal: AbortSignal.any([context.cancellationSignal, asked]),
    attempt: context.info.attempt,
    stopReason: () => (asked.aborted ? 'cancelled' : context.cancellationSignal.aborted ? whyOf(context) : null),
  };
  try {
    return await beating(() => body(life));
  } catch (error) {
    if (life.stopReason() === 'handover') throw handedOver();
    // a late start of an attempt that was given up may have taken the step from the one that counts: that one tries again
    if (error instanceof TidemarkError && error.code === 'lane_fenced') throw handedOver();
    throw error;
  } finally {
    release();
  }
}

/** Does the work with a heart that beats whatever the work does. A local activity has none, and needs none. */
export async function beating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  if (context.info.isLocal) return await work();
  const heart = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  context.heartbeat();
  try {
    return await work();
  } finally {
    clearInterval(heart);
  }
}

function whyOf(context: Context): StopReason {
  const details = context.cancellationDetails;
  if (details === undefined || details.cancelRequested) return 'cancelled';
  return details.timedOut || details.notFound ? 'lost' : 'handover';
}

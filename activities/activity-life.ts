import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { TidemarkError, type ErrorCode } from '../contract/errors.ts';
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
  const heart = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  context.heartbeat();
  const { signal: asked, release } = watch.watch(runId);
  const life: ActivityLife = {
    signal: AbortSignal.any([context.cancellationSignal, asked]),
    attempt: context.info.attempt,
    stopReason: () => (asked.aborted ? 'cancelled' : context.cancellationSignal.aborted ? whyOf(context) : null),
  };
  try {
    return await body(life);
  } catch (error) {
    throw asFailure(error, life);
  } finally {
    clearInterval(heart);
    release();
  }
}

function whyOf(context: Context): StopReason {
  const details = context.cancellationDetails;
  if (details === undefined || details.cancelRequested) return 'cancelled';
  return details.timedOut || details.notFound ? 'lost' : 'handover';
}

/** A retry by Temporal is of use for these; the rest stay as they are. Total: a new code does not compile until decided. */
export const RETRYABLE: Readonly<Record<ErrorCode, boolean>> = {
  invalid_json: false,
  invalid_request: false,
  payload_too_large: false,
  unsupported_media_type: false,
  not_acceptable: false,
  unauthenticated: false,
  host_not_allowed: false,
  not_found: false,
  method_not_allowed: false,
  thread_not_found: false,
  run_not_found: false,
  interrupt_not_found: false,
  unknown_engine: false,
  unknown_model: false,
  parent_run_not_found: false,
  cursor_invalid: false,
  cursor_beyond_head: false,
  idempotency_key_reused: false,
  thread_busy: false,
  interrupt_already_resolved: false,
  decision_not_allowed: false,
  edited_args_invalid: false,
  leg_not_found: false,
  intent_not_dead: false,
  interrupts_not_covered: false,
  nothing_to_run: false,
  internal: true,
  unavailable: true,
  draining: true,
  lane_sealed: false,
  lane_fenced: false,
  payload_over_temporal_limit: false,
  provider_auth: false,
  provider_rejected: false,
  provider_rate_limited: true,
  provider_unavailable: true,
  provider_stream_broken: true,
  provider_stalled: true,
  model_not_configured: false,
  step_limit: false,
  worker_lost: true,
  workflow_terminated: false,
  workflow_lost: false,
  thread_durability_uncertain: false,
  harness_event_invalid: false,
  harness_stream_closed: false,
};

/**
 * What Temporal records of a failure: its code and a fixed sentence. The error's own words stay in the worker's log and in
 * Postgres, since they may quote a prompt or a key (design, invariant 11).
 */
function asFailure(error: unknown, life: ActivityLife): unknown {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  const why = life.stopReason();
  if (why === 'handover') return ApplicationFailure.retryable('the worker handed the step over', 'worker_lost');
  const code = error instanceof TidemarkError ? error.code : 'internal';
  return ApplicationFailure.create({ message: `failed: ${code}`, type: code, nonRetryable: !RETRYABLE[code] });
}

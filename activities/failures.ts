import { ApplicationFailure, CancelledFailure, CompleteAsyncError, type Info } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { TidemarkError, type ErrorCode } from '../contract/errors.ts';
import { TASK_QUEUE } from '../contract/messages.ts';
import type { Logger } from '../infra/log.ts';
import { FAILING_ATTEMPTS } from './attempts.ts';
import { isConnectionLoss } from '../infra/postgres/transaction.ts';

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
  session_not_found: false,
  session_malformed: false,
  session_ambiguous: false,
  session_busy: false,
  interrupt_not_found: false,
  artifact_not_found: false,
  range_not_satisfiable: false,
  unknown_engine: false,
  unknown_model: false,
  parent_run_not_found: false,
  cursor_invalid: false,
  cursor_beyond_head: false,
  cursor_expired: false,
  run_events_expired: false,
  idempotency_key_reused: false,
  thread_busy: false,
  thread_has_live_run: false,
  thread_erasing: false,
  steering_unsupported: false,
  input_queue_full: false,
  interrupt_already_resolved: false,
  decision_not_allowed: false,
  edited_args_invalid: false,
  extension_unknown: false,
  leg_not_found: false,
  intent_not_dead: false,
  interrupts_not_covered: false,
  nothing_to_run: false,
  internal: true,
  unavailable: true,
  draining: true,
  extension_failed: false,
  lane_sealed: false,
  lane_fenced: false,
  payload_over_temporal_limit: false,
  provider_auth: false,
  provider_rejected: false,
  context_length_exceeded: false,
  provider_rate_limited: true,
  provider_unavailable: true,
  provider_stream_broken: true,
  provider_stalled: true,
  // whether a turn may be driven again is decided where it is driven
  engine_unavailable: false,
  engine_lost: false,
  engine_failed: false,
  engine_stalled: false,
  engine_time_limit: false,
  engine_protocol_error: false,
  model_not_configured: false,
  step_limit: false,
  worker_lost: true,
  workflow_terminated: false,
  workflow_lost: false,
  thread_durability_uncertain: false,
  harness_event_invalid: false,
  harness_stream_closed: false,
};

/** The worker goes; the next attempt does the step again. */
export function handedOver(): ApplicationFailure {
  return ApplicationFailure.retryable('the worker handed the step over', 'worker_lost');
}

/**
 * What Temporal records of a failed activity: its code and a fixed sentence. The error's own words go to the worker's log and to
 * Postgres, since they may quote a prompt or a key (design, invariant 11).
 */
export function typedFailures(
  log: Logger,
  { isLocal, taskQueue, attempt }: Pick<Info, 'isLocal' | 'taskQueue' | 'attempt'>,
): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        if (
          error instanceof ApplicationFailure ||
          error instanceof CancelledFailure ||
          error instanceof CompleteAsyncError
        ) {
          throw error;
        }
        const isAway = isConnectionLoss(error);
        const code = error instanceof TidemarkError ? error.code : isAway ? 'unavailable' : 'internal';
        log.warn({ err: error, code, args: input.args.map(idsOf) }, 'activity failed');
        const isEngineWork = !isLocal && taskQueue === TASK_QUEUE.engine;
        const isOver = isEngineWork && code !== 'unavailable' && attempt >= FAILING_ATTEMPTS;
        throw ApplicationFailure.create({
          message: `failed: ${code}`,
          type: code,
          nonRetryable: !RETRYABLE[code] || isOver,
          // the attempts must outlast a restart of the database
          ...(isAway && !isLocal ? { nextRetryDelay: '10 seconds' } : {}),
        });
      }
    },
  };
}

/** Of an argument, the run it is about: arguments of activities are ids, but an answer by signal is not. */
function idsOf(argument: unknown): unknown {
  return typeof argument === 'string' ? argument : (argument as { runId?: unknown } | null)?.runId;
}

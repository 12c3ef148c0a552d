import type { Response } from 'express';
import type { ErrorCode, TidemarkError } from '../contract/errors.ts';

/** The HTTP status of every code: a new code does not compile until this edge has decided. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid_json: 400,
  invalid_request: 400,
  payload_too_large: 413,
  unsupported_media_type: 415,
  not_acceptable: 406,
  unauthenticated: 401,
  host_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  thread_not_found: 404,
  run_not_found: 404,
  session_not_found: 404,
  interrupt_not_found: 404,
  artifact_not_found: 404,
  range_not_satisfiable: 416,
  unknown_engine: 422,
  unknown_model: 422,
  parent_run_not_found: 422,
  cursor_invalid: 400,
  cursor_beyond_head: 416,
  cursor_expired: 410,
  run_events_expired: 410,
  idempotency_key_reused: 409,
  thread_busy: 409,
  thread_has_live_run: 409,
  thread_erasing: 409,
  interrupt_already_resolved: 409,
  decision_not_allowed: 422,
  edited_args_invalid: 422,
  extension_unknown: 404,
  leg_not_found: 404,
  intent_not_dead: 409,
  interrupts_not_covered: 409,
  nothing_to_run: 422,
  internal: 500,
  unavailable: 503,
  draining: 503,
  extension_failed: 502,
  lane_sealed: 409,
  lane_fenced: 409,
  payload_over_temporal_limit: 413,
  provider_auth: 502,
  provider_rejected: 502,
  provider_rate_limited: 503,
  provider_unavailable: 503,
  provider_stream_broken: 502,
  provider_stalled: 504,
  engine_unavailable: 503,
  engine_lost: 500,
  engine_failed: 502,
  engine_stalled: 504,
  engine_time_limit: 504,
  engine_protocol_error: 502,
  model_not_configured: 422,
  step_limit: 409,
  worker_lost: 500,
  workflow_terminated: 500,
  workflow_lost: 500,
  thread_durability_uncertain: 503,
  harness_event_invalid: 500,
  harness_stream_closed: 500,
};

/** An RFC 9457 problem: what happened, which code, what to do. Facts of the error stand beside the standard members. */
export function sendProblem(res: Response, error: TidemarkError, instance: string): void {
  const status = STATUS[error.code];
  if (error.code === 'unavailable' || error.code === 'draining') res.setHeader('Retry-After', '1');
  if (error.code === 'unauthenticated') res.setHeader('WWW-Authenticate', 'Bearer realm="tidemark"');
  res
    .status(status)
    .type('application/problem+json')
    .send(
      JSON.stringify({
        ...error.facts,
        type: `urn:tidemark:error:${error.code}`,
        title: error.code.replaceAll('_', ' '),
        status,
        code: error.code,
        detail: error.message,
        remedy: error.remedy,
        instance,
      }),
    );
}

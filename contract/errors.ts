/**
 * Every error that crosses an edge has a code from this list, a message with the facts, and a remedy that its reader can
 * take. Each code has a section in `docs/errors.md`; the HTTP status of each is in `api/problem.ts`.
 */
export const ERROR_CODES = [
  // what a client sent
  'invalid_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
  'not_acceptable',
  'unauthenticated',
  'host_not_allowed',
  'not_found',
  'method_not_allowed',
  'thread_not_found',
  'run_not_found',
  'session_not_found',
  'interrupt_not_found',
  'artifact_not_found',
  'range_not_satisfiable',
  'unknown_engine',
  'unknown_model',
  'parent_run_not_found',
  'cursor_invalid',
  'cursor_beyond_head',
  'cursor_expired',
  'run_events_expired',
  'idempotency_key_reused',
  'thread_busy',
  'thread_has_live_run',
  'thread_erasing',
  'interrupt_already_resolved',
  'decision_not_allowed',
  'edited_args_invalid',
  'extension_unknown',
  'leg_not_found',
  'intent_not_dead',
  'interrupts_not_covered',
  'nothing_to_run',
  // what the system could not do
  'internal',
  'unavailable',
  'draining',
  'extension_failed',
  'lane_sealed',
  'lane_fenced',
  'payload_over_temporal_limit',
  // how a run can fail
  'provider_auth',
  'provider_rejected',
  'provider_rate_limited',
  'provider_unavailable',
  'provider_stream_broken',
  'provider_stalled',
  'engine_unavailable',
  'engine_lost',
  'engine_failed',
  'engine_stalled',
  'engine_time_limit',
  'engine_protocol_error',
  'model_not_configured',
  'step_limit',
  'worker_lost',
  'workflow_terminated',
  'workflow_lost',
  'thread_durability_uncertain',
  'harness_event_invalid',
  'harness_stream_closed',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error that its reader can act on. Match on `code`, never on the message. */
export class TidemarkError extends Error {
  readonly code: ErrorCode;
  readonly remedy: string;
  /** More facts for the reader, safe to show: the field at fault, the head of a thread, the recorded answer. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    remedy: string,
    options: { facts?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TidemarkError';
    this.code = code;
    this.remedy = remedy;
    this.facts = options.facts ?? {};
  }
}

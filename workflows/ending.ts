import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import { ERROR_CODES, type ErrorCode } from '../contract/errors.ts';
import type { Ending } from '../contract/run-plan.ts';

/**
 * What a failure makes of the run or sub-agent that it ends.
 *
 * @throws the error itself, where it is neither a stop nor a failed activity: a fault of the workflow, or continue-as-new.
 */
export function endingOfError(error: unknown): Ending {
  if (isCancellation(error)) return { status: 'failed', stopReason: 'cancelled' };
  if (error instanceof ActivityFailure) return { status: 'failed', stopReason: 'error', code: codeOf(error) };
  throw error;
}

function codeOf({ cause }: ActivityFailure): ErrorCode {
  if (cause instanceof TimeoutFailure) return 'worker_lost';
  if (!(cause instanceof ApplicationFailure)) return 'internal';
  return ERROR_CODES.find((code) => code === cause.type) ?? 'internal';
}

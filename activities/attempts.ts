import { ApplicationFailure } from '@temporalio/activity';

/**
 * How often engine work is tried. Temporal itself would try for minutes (`ENGINE_OPTIONS`), so that no run ends because the
 * database was away, or a worker, again and again.
 */

/** Attempts at what fails by itself: a model's provider, an error that nobody foresaw. */
export const FAILING_ATTEMPTS = 5;

/** Attempts that began a step and were never heard of again. */
const LOST_ATTEMPTS = 8;

/**
 * Ends a step whose attempts are lost one after the other: it may be what takes its workers with it.
 *
 * @param begun Attempts that have begun the step, this one included.
 * @throws ApplicationFailure `worker_lost`, which is not tried again.
 */
export function refuseEndlessLoss(begun: number): void {
  if (begun <= LOST_ATTEMPTS) return;
  throw ApplicationFailure.nonRetryable(`${String(LOST_ATTEMPTS)} attempts were lost`, 'worker_lost');
}

import { TidemarkError } from '../contract/errors.ts';
import type { RunRow } from '../infra/postgres/run.ts';

/** Sixteen digits hold every cursor that a log can reach, and no other spelling of a number is one. */
const CURSOR = /^\d{1,16}$/;

/**
 * Where a client stands: the larger of its `Last-Event-ID` header and its `after` parameter, null when it sent neither.
 *
 * @throws TidemarkError `cursor_invalid`: a cursor that cannot be read is never taken for the start of the log.
 */
export function readCursor(lastEventId: string | undefined, after: string | undefined): number | null {
  const given = [
    ['Last-Event-ID', lastEventId],
    ['after', after],
  ] as const;
  let cursor: number | null = null;
  for (const [name, value] of given) {
    if (value === undefined) continue;
    if (!CURSOR.test(value)) {
      throw new TidemarkError(
        'cursor_invalid',
        `${name} is ${JSON.stringify(value.slice(0, 40))}, which is no cursor`,
        'Send the id of the last event that you saw, once and in digits alone, or leave it out to read from the start.',
        { facts: { parameter: name } },
      );
    }
    cursor = Math.max(cursor ?? 0, Number(value));
  }
  return cursor;
}

/** @throws TidemarkError `cursor_beyond_head`: a cursor of another thread or of a database that was reset. */
export function assertWithinLog(cursor: number, head: number): void {
  if (cursor <= head) return;
  throw new TidemarkError(
    'cursor_beyond_head',
    `the cursor ${String(cursor)} lies beyond the thread's head ${String(head)}`,
    'Check that the cursor is of this thread; read from its head, or from 0 for all of it.',
    { facts: { head } },
  );
}

/** @throws TidemarkError `cursor_expired`: what follows the cursor is not there any more. */
export function assertRetained(cursor: number, retainedFrom: number): void {
  if (cursor + 1 >= retainedFrom) return;
  throw new TidemarkError(
    'cursor_expired',
    `the log begins at ${String(retainedFrom)}: what followed the cursor ${String(cursor)} was removed by retention`,
    'Ask with ?from=oldest for what is there, or with ?tail=1 for what comes.',
    { facts: { retained_from: retainedFrom } },
  );
}

/**
 * For rows that were read after a cursor: they were removed between the look at the log's bounds and the read, if there is a gap.
 *
 * @throws TidemarkError `cursor_expired`.
 */
export function assertNoGap(cursor: number, rows: readonly { readonly delivery_seq: number }[]): void {
  const first = rows[0]?.delivery_seq;
  if (first !== undefined) assertRetained(cursor, first);
}

/** @throws TidemarkError `run_events_expired`: retention removed the run's rows of the log. */
export function assertEventsRetained(run: RunRow): void {
  if (run.deliveries_removed_at === null) return;
  const removedAt = run.deliveries_removed_at.toISOString();
  throw new TidemarkError(
    'run_events_expired',
    `the events of run ${run.run_id} were removed by retention at ${removedAt}`,
    'GET /v1/runs/{id} still has the run and how it ended.',
    { facts: { removed_at: removedAt } },
  );
}

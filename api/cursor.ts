import { TidemarkError } from '../contract/errors.ts';

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

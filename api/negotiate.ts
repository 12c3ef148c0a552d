import type { Request } from 'express';
import { TidemarkError } from '../contract/errors.ts';

/** The two forms of a thread's log on one path. */
export type EventsForm = 'sse' | 'json';

/** A stream unless the client prefers JSON. @throws TidemarkError `not_acceptable` */
export function negotiateForm(req: Request): EventsForm {
  const type = req.accepts(['text/event-stream', 'application/json']);
  if (type === 'text/event-stream') return 'sse';
  if (type === 'application/json') return 'json';
  throw new TidemarkError(
    'not_acceptable',
    `the events of a thread cannot be sent as ${String(req.headers.accept)}`,
    'Send Accept: text/event-stream for a stream, or Accept: application/json for pages.',
  );
}

import { Router } from 'express';
import { TidemarkError } from '../../contract/errors.ts';
import { RunEventsQuery } from '../../contract/rest.ts';
import { headsOf } from '../../infra/postgres/delivery.ts';
import { findRunOfTenant } from '../../infra/postgres/run.ts';
import { tenantOf } from '../auth.ts';
import { assertWithinLog, readCursor } from '../cursor.ts';
import { lastEventId } from '../events-query.ts';
import type { Gateway } from '../gateway.ts';
import { streamRun } from '../run-stream/stream-run.ts';
import { pathOf, queryOf } from '../validate.ts';
import { runNotFound } from './runs.ts';

/** `GET /runs/:runId/events`: a run in one of the encodings, each leg a stream (design §7). */
export function runEventRoutes({ pool, hub }: Gateway): Router {
  const router = Router();
  router.get('/runs/:runId/events', async (req, res) => {
    hub.assertOpen();
    if (req.accepts(['text/event-stream']) === false) {
      throw new TidemarkError(
        'not_acceptable',
        'a run is read as a stream',
        'Send Accept: text/event-stream; GET /v1/threads/{id}/events?run_id= gives JSON pages.',
      );
    }
    const query = queryOf(req, RunEventsQuery);
    const run = await findRunOfTenant(pool, tenantOf(res), pathOf(req, 'runId'));
    if (run === null) throw runNotFound();
    const after = readCursor(lastEventId(req), query.after) ?? 0;
    assertWithinLog(after, (await headsOf(pool, [run.thread_id])).get(run.thread_id) ?? 0);
    await streamRun(hub, res, { run, encoding: query.encoding, leg: query.leg ?? null, after });
  });
  return router;
}

import { Router, type Response } from 'express';
import { ThreadId } from '../../contract/ids.ts';
import type { Logger } from '../../infra/log.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { threadOfTenant, type ThreadRow } from '../../infra/postgres/thread.ts';
import type { Queryable } from '../../infra/postgres/transaction.ts';
import { tenantOf } from '../auth.ts';
import { assertRetained, assertWithinLog } from '../cursor.ts';
import { readEventsQuery } from '../events-query.ts';
import type { Hub } from '../hub.ts';
import { negotiateForm } from '../negotiate.ts';
import { streamThread } from '../stream-thread.ts';
import { threadPage } from '../thread-page.ts';

interface ThreadEventsOptions {
  readonly pool: Queryable;
  readonly hub: Hub;
  readonly log: Logger;
}

/** `GET /threads/:threadId/events`: a thread's log as a stream, or page by page. */
export function threadEventsRouter({ pool, hub, log }: ThreadEventsOptions): Router {
  const router = Router();
  router.get('/threads/:threadId/events', async (req, res) => {
    hub.assertOpen();
    res.vary('Accept');
    const form = negotiateForm(req);
    const query = readEventsQuery(req, form);
    const threadId = req.params.threadId;
    const { head_seq: head, retained_from: retainedFrom } = await ownThread(pool, res, threadId);
    const places = { head, oldest: Math.min(retainedFrom - 1, head) };
    const after = typeof query.after === 'number' ? query.after : places[query.after];
    assertWithinLog(after, head);
    assertRetained(after, retainedFrom);
    if (form === 'json') {
      const page = await threadPage(hub, { ...query, threadId, after, head }, closeSignal(res));
      if (!res.destroyed) res.set('Cache-Control', 'no-store').type('application/json').end(page);
      return;
    }
    if (req.method === 'HEAD') return void res.type('text/event-stream').end();
    log.debug({ threadId, after, head }, 'stream opened');
    await streamThread(hub, res, { ...query, threadId, after, head, sayCursor: typeof query.after !== 'number' });
  });
  return router;
}

/** @throws TidemarkError `thread_not_found`, word for word the same for an id that is malformed, missing or another's. */
async function ownThread(pool: Queryable, res: Response, threadId: string): Promise<ThreadRow> {
  const thread = ThreadId.safeParse(threadId).success ? await threadOfTenant(pool, tenantOf(res), threadId) : null;
  if (thread === null) throw threadNotFound();
  return thread;
}

function closeSignal(res: Response): AbortSignal {
  const closed = new AbortController();
  res.once('close', () => closed.abort());
  return closed.signal;
}

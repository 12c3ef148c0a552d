import { Router, type Response } from 'express';
import { ThreadId } from '../../contract/ids.ts';
import type { Logger } from '../../infra/log.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import type { Queryable } from '../../infra/postgres/transaction.ts';
import { tenantOf } from '../auth.ts';
import { assertWithinLog } from '../cursor.ts';
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
    const head = await headOfOwn(pool, res, threadId);
    const after = query.after ?? head;
    assertWithinLog(after, head);
    if (form === 'json') {
      const page = await threadPage(hub, { ...query, threadId, after, head }, closeSignal(res));
      if (!res.destroyed) res.set('Cache-Control', 'no-store').type('application/json').end(page);
      return;
    }
    if (req.method === 'HEAD') return void res.type('text/event-stream').end();
    log.debug({ threadId, after, head }, 'stream opened');
    await streamThread(hub, res, { ...query, threadId, after, head, sayCursor: query.after === null });
  });
  return router;
}

/** @throws TidemarkError `thread_not_found`, word for word the same for an id that is malformed, missing or another's. */
async function headOfOwn(pool: Queryable, res: Response, threadId: string): Promise<number> {
  const thread = ThreadId.safeParse(threadId).success ? await threadOfTenant(pool, tenantOf(res), threadId) : null;
  if (thread === null) throw threadNotFound();
  return thread.head_seq;
}

function closeSignal(res: Response): AbortSignal {
  const closed = new AbortController();
  res.once('close', () => closed.abort());
  return closed.signal;
}

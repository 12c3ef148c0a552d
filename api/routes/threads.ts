import { Router } from 'express';
import { EraseQuery, NoQuery } from '../../contract/rest.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { requestErasure } from '../../infra/postgres/erase-thread.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { tellTemporal } from '../tell-temporal.ts';
import { viewThread } from '../thread-view.ts';
import { pathOf, queryOf } from '../validate.ts';

/** One thread: whose turn it is, where its log begins and ends, and its erasure. */
export function threadRoutes(gateway: Gateway): Router {
  const { pool } = gateway;
  const router = Router();
  router.get('/threads/:threadId', async (req, res) => {
    queryOf(req, NoQuery);
    const thread = await threadOfTenant(pool, tenantOf(res), pathOf(req, 'threadId'));
    if (thread === null) throw threadNotFound();
    res.json(viewThread(thread));
  });
  router.delete('/threads/:threadId', async (req, res) => {
    const { cancel } = queryOf(req, EraseQuery);
    const threadId = pathOf(req, 'threadId');
    const outcome = await requestErasure(pool, { tenantId: tenantOf(res), threadId, cancel: cancel === '1' });
    if (outcome.state === 'gone') return void res.status(204).end();
    for (const runId of outcome.cancelling) tellTemporal(gateway, runId, 'run.cancel');
    res.status(202).json({ thread_id: threadId, erasing: true, cancelling_run_ids: outcome.cancelling });
  });
  return router;
}

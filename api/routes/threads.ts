import { Router } from 'express';
import { NoQuery } from '../../contract/rest.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { pathOf, queryOf } from '../validate.ts';

/** One thread: whose turn it is, and the head of its log. */
export function threadRoutes({ pool }: Gateway): Router {
  const router = Router();
  router.get('/threads/:threadId', async (req, res) => {
    queryOf(req, NoQuery);
    const thread = await threadOfTenant(pool, tenantOf(res), pathOf(req, 'threadId'));
    if (thread === null) throw threadNotFound();
    res.json({
      thread_id: thread.thread_id,
      title: thread.title,
      metadata: thread.metadata,
      head: thread.head_seq,
      active_run_id: thread.active_run_id,
      created_at: thread.created_at.toISOString(),
      updated_at: thread.updated_at.toISOString(),
    });
  });
  return router;
}

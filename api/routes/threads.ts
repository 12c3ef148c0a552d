import { Router } from 'express';
import { EraseQuery, NoQuery, ThreadBody, ThreadListQuery } from '../../contract/rest.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { requestErasure } from '../../infra/postgres/erase-thread.ts';
import { insertThread, listThreads, threadOfTenant, updateThread } from '../../infra/postgres/thread.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { tellTemporal } from '../tell-temporal.ts';
import { viewThread } from '../thread-view.ts';
import { bodyOf, pathOf, queryOf } from '../validate.ts';

/** Threads: create, list, search, rename, and whose turn it is, where the log begins and ends; their erasure (design §8). */
export function threadRoutes(gateway: Gateway): Router {
  const { pool } = gateway;
  const router = Router();
  router.post('/threads', async (req, res) => {
    queryOf(req, NoQuery);
    const thread = await insertThread(pool, tenantOf(res), bodyOf(req, ThreadBody));
    res.status(201).location(`/v1/threads/${thread.thread_id}`).json(viewThread(thread));
  });
  router.get('/threads', async (req, res) => {
    const { limit, cursor, search } = queryOf(req, ThreadListQuery);
    const list = { tenantId: tenantOf(res), before: cursor ?? null, search: search ?? null, limit: limit + 1 };
    const threads = await listThreads(pool, list);
    const page = threads.slice(0, limit);
    const nextCursor = threads.length > limit ? (page.at(-1)?.thread_id ?? null) : null;
    res.json({ data: page.map(viewThread), next_cursor: nextCursor });
  });
  router.patch('/threads/:threadId', async (req, res) => {
    queryOf(req, NoQuery);
    const fields = bodyOf(req, ThreadBody);
    const threadId = pathOf(req, 'threadId');
    const thread = await updateThread(pool, { tenantId: tenantOf(res), threadId, ...fields });
    if (thread === null) throw threadNotFound();
    res.json(viewThread(thread));
  });
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

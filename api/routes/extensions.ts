import { Router, type Request, type Response } from 'express';
import { TidemarkError } from '../../contract/errors.ts';
import { CommandCall, LoginCall, NoBody, NoQuery, ThreadQuery } from '../../contract/rest.ts';
import type { ExtensionCallKind } from '../../contract/extension-call.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import { newestCatalog } from '../../infra/postgres/worker-catalog.ts';
import { askWorker } from '../ask-worker.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { bodyOf, pathOf, queryOf } from '../validate.ts';

/** What the extensions of the built-in engine offer to clients (design §8); they run in the workers. */
export function extensionRoutes(gateway: Gateway): Router {
  const router = Router();

  router.get('/extensions', async (req, res) => {
    queryOf(req, NoQuery);
    const catalog = await newestCatalog(gateway.pool);
    if (catalog === null) throw noWorker();
    res.json({ data: catalog.extensions });
  });

  router.get('/introspect', async (req, res) => {
    const { thread_id: threadId } = queryOf(req, ThreadQuery);
    res.json({ data: await ask(req, res, { kind: 'introspect', threadId: threadId ?? null }) });
  });

  for (const kind of ['panels', 'status'] as const) {
    router.get(`/threads/:threadId/${kind}`, async (req, res) => {
      queryOf(req, NoQuery);
      res.json({ data: await ask(req, res, { kind, threadId: pathOf(req, 'threadId') }) });
    });
  }

  router.post('/threads/:threadId/commands/:name', async (req, res) => {
    const { args } = bodyOf(req, CommandCall);
    const name = pathOf(req, 'name');
    res.json(await call(req, res, { kind: 'command', threadId: pathOf(req, 'threadId'), name, args: args ?? '' }));
  });

  router.post('/threads/:threadId/controls/:name', async (req, res) => {
    bodyOf(req, NoBody);
    const name = pathOf(req, 'name');
    res.json(await call(req, res, { kind: 'control', threadId: pathOf(req, 'threadId'), name }));
  });

  router.post('/auth-backends/:name/login', async (req, res) => {
    const { options } = bodyOf(req, LoginCall);
    res.json(await call(req, res, { kind: 'login', threadId: null, name: pathOf(req, 'name'), args: options ?? {} }));
  });

  router.post('/auth-backends/:name/logout', async (req, res) => {
    bodyOf(req, NoBody);
    res.json(await call(req, res, { kind: 'logout', threadId: null, name: pathOf(req, 'name') }));
  });

  return router;

  async function ask(req: Request, res: Response, asked: Asked): Promise<unknown> {
    return (await call(req, res, asked)).result;
  }

  async function call(_req: Request, res: Response, { kind, threadId, name = '', args = null }: Asked) {
    const tenantId = tenantOf(res);
    if (threadId !== null && (await threadOfTenant(gateway.pool, tenantId, threadId)) === null) throw threadNotFound();
    return await askWorker(gateway, { tenantId, threadId, kind, name, args }, res);
  }
}

interface Asked {
  readonly kind: ExtensionCallKind;
  readonly threadId: string | null;
  readonly name?: string;
  readonly args?: unknown;
}

function noWorker(): TidemarkError {
  return new TidemarkError('unavailable', 'no worker is there', 'Start a worker (npm run worker), then ask again.');
}

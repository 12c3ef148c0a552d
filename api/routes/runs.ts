import { hash } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import { canonicalJson } from '../../contract/canonical-json.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { CreateRun, CreateRunQuery, IdempotencyKey, NoQuery, RunListQuery, RunQuery } from '../../contract/rest.ts';
import { acceptRun, threadNotFound } from '../../infra/postgres/accept-run.ts';
import { requestCancel } from '../../infra/postgres/command.ts';
import { findRunOfTenant, listRuns, type RunRow } from '../../infra/postgres/run.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { offerOf } from '../extension-providers.ts';
import { chooseEngine } from '../models.ts';
import { assertInputSize } from '../input-size.ts';
import { streamRun } from '../run-stream/stream-run.ts';
import { viewRun } from '../run-view.ts';
import { tellTemporal } from '../tell-temporal.ts';
import { waitUntilSettled } from '../wait-until-settled.ts';
import { bodyOf, pathOf, queryOf } from '../validate.ts';

/** Runs: start, read, list, cancel (design §8). */
export function runRoutes(gateway: Gateway): Router {
  const { pool, config, hub } = gateway;
  const router = Router();

  router.post('/runs', async (req, res) => {
    await create(req, res, null);
  });

  router.post('/threads/:threadId/runs', async (req, res) => {
    await create(req, res, pathOf(req, 'threadId'));
  });

  router.get('/threads/:threadId/runs', async (req, res) => {
    const { limit, cursor } = queryOf(req, RunListQuery);
    const threadId = pathOf(req, 'threadId');
    if ((await threadOfTenant(pool, tenantOf(res), threadId)) === null) throw threadNotFound();
    const beforeTurn = cursor === undefined ? null : turnCursor(cursor);
    const runs = await listRuns(pool, { threadId, beforeTurn, limit: limit + 1 });
    const page = runs.slice(0, limit);
    const data = await Promise.all(page.map((run) => viewRun(pool, config, run)));
    res.json({ data, next_cursor: runs.length > limit ? String(page.at(-1)?.turn_seq) : null });
  });

  router.get('/runs/:runId', async (req, res) => {
    const { wait } = queryOf(req, RunQuery);
    const asked = await runOf(req, res);
    const run = wait === 0 ? asked : await waitUntilSettled(gateway, asked, wait * 1_000, res);
    if (run === null) throw runNotFound();
    res.json(await viewRun(pool, config, run));
  });

  router.post('/runs/:runId/cancel', async (req, res) => {
    queryOf(req, NoQuery);
    const { run_id: runId } = await runOf(req, res);
    const { run, outcome } = await requestCancel(pool, runId);
    if (outcome === 'cancelling') tellTemporal(gateway, runId, 'run.cancel');
    res.status(outcome === 'cancelling' ? 202 : 200).json(await viewRun(pool, config, run));
  });

  return router;

  async function create(req: Request, res: Response, threadId: string | null): Promise<void> {
    const { stream: encoding } = queryOf(req, CreateRunQuery);
    if (encoding !== undefined) hub.assertOpen();
    const body = bodyOf(req, CreateRun);
    assertInputSize(body.input);
    const { run, created } = await acceptRun(pool, {
      tenantId: tenantOf(res),
      threadId,
      input: body.input,
      ...chooseEngine(await offerOf(gateway), { engine: body.engine, model: body.model }),
      parentRunId: body.parent_run_id ?? null,
      multitask: body.multitask ?? 'enqueue',
      settings: withoutUndefined(body.settings ?? {}),
      metadata: body.metadata ?? {},
      idempotencyKey: idempotencyKey(req, threadId),
      fingerprint: hash('sha256', canonicalJson({ threadId, ...body })),
    });
    if (created) tellTemporal(gateway, run.run_id, 'run.create');
    res.status(created ? 201 : 200).location(`/v1/runs/${run.run_id}`);
    if (encoding === undefined) res.json(await viewRun(pool, config, run));
    else await streamRun(hub, res, { run, encoding, leg: 1, after: 0 });
  }

  async function runOf(req: Request, res: Response): Promise<RunRow> {
    const run = await findRunOfTenant(pool, tenantOf(res), pathOf(req, 'runId'));
    if (run === null) throw runNotFound();
    return run;
  }
}

/** The same words for a missing run and for another tenant's. */
export function runNotFound(): TidemarkError {
  return new TidemarkError(
    'run_not_found',
    'there is no such run',
    'Check the run id; GET /v1/threads/{id}/runs lists a thread’s.',
  );
}

/** Keys are a caller's own per thread: the same key in another thread is another request. */
function idempotencyKey(req: Request, threadId: string | null): string | null {
  const header = req.get('Idempotency-Key');
  if (header === undefined) return null;
  const parsed = IdempotencyKey.safeParse(header);
  if (parsed.success) return `${threadId ?? '-'} ${parsed.data}`;
  throw new TidemarkError(
    'invalid_request',
    `Idempotency-Key ${parsed.error.issues[0]?.message ?? 'is invalid'}`,
    'Send a UUID.',
    {
      facts: { field: 'Idempotency-Key', in: 'header' },
    },
  );
}

function turnCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new TidemarkError('cursor_invalid', 'cursor is not one of this list', 'Send next_cursor as it was given.', {
    facts: { field: 'cursor', in: 'query' },
  });
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return JSON.parse(JSON.stringify(value)) as { [K in keyof T]: Exclude<T[K], undefined> };
}

import { hash } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import { canonicalJson } from '../../contract/canonical-json.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { utf8Bytes } from '../../contract/frames.ts';
import { CreateRun, IdempotencyKey, INPUT_LIMIT_BYTES, NoQuery, RunListQuery, RunQuery } from '../../contract/rest.ts';
import { acceptRun, threadNotFound } from '../../infra/postgres/accept-run.ts';
import { requestCancel } from '../../infra/postgres/command.ts';
import { findRunOfTenant, listRuns, type RunRow } from '../../infra/postgres/run.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import { dispatchCommand } from '../../infra/dispatcher.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { chooseEngine } from '../models.ts';
import { viewRun } from '../run-view.ts';
import { waitUntilSettled } from '../wait-until-settled.ts';
import { bodyOf, pathOf, queryOf } from '../validate.ts';

/** Runs: start, read, list, cancel (design §8). */
export function runRoutes(gateway: Gateway): Router {
  const { pool, config, log } = gateway;
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
    const run = await runOf(req, res);
    res.json(await viewRun(pool, config, wait === 0 ? run : await waitUntilSettled(gateway, run, wait * 1_000, res)));
  });

  router.post('/runs/:runId/cancel', async (req, res) => {
    queryOf(req, NoQuery);
    const { run_id: runId } = await runOf(req, res);
    const { run, outcome } = await requestCancel(pool, runId);
    if (outcome === 'cancelling') tellTemporal(runId, 'run.cancel');
    res.status(outcome === 'cancelling' ? 202 : 200).json(await viewRun(pool, config, run));
  });

  return router;

  async function create(req: Request, res: Response, threadId: string | null): Promise<void> {
    queryOf(req, NoQuery);
    const body = bodyOf(req, CreateRun);
    if (utf8Bytes(body.input) > INPUT_LIMIT_BYTES) throw inputTooLarge();
    const { run, created } = await acceptRun(pool, {
      tenantId: tenantOf(res),
      threadId,
      input: body.input,
      ...chooseEngine(config, { engine: body.engine, model: body.model }),
      parentRunId: body.parent_run_id ?? null,
      multitask: body.multitask ?? 'enqueue',
      settings: withoutUndefined(body.settings ?? {}),
      metadata: body.metadata ?? {},
      idempotencyKey: idempotencyKey(req, threadId),
      fingerprint: hash('sha256', canonicalJson({ threadId, ...body })),
    });
    if (created) tellTemporal(run.run_id, 'run.create');
    res
      .status(created ? 201 : 200)
      .location(`/v1/runs/${run.run_id}`)
      .json(await viewRun(pool, config, run));
  }

  /** After the commit, and not waited for: what fails here is done by a dispatcher, from the command's row. */
  function tellTemporal(runId: string, kind: 'run.create' | 'run.cancel'): void {
    dispatchCommand(gateway, { run_id: runId, kind }).catch((error: unknown) => {
      log.warn({ err: error, runId, kind }, 'Temporal not told; a dispatcher will');
    });
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

function inputTooLarge(): TidemarkError {
  return new TidemarkError(
    'payload_too_large',
    `input is over ${String(INPUT_LIMIT_BYTES)} bytes`,
    'Send less, or put the text into a file and have a tool read it.',
    { facts: { field: 'input', limit_bytes: INPUT_LIMIT_BYTES } },
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

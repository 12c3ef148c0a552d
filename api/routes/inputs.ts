import { Router, type Request, type Response } from 'express';
import { TidemarkError } from '../../contract/errors.ts';
import { InputListQuery, NoQuery } from '../../contract/rest.ts';
import { clearInputs, listInputs } from '../../infra/postgres/queued-input.ts';
import { findRunOfTenant, type RunRow } from '../../infra/postgres/run.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { viewInput } from '../run-view.ts';
import { pathOf, queryOf } from '../validate.ts';
import { runNotFound } from './runs.ts';

/** What a run was given while it worked: what it took, what waits, what was dropped; and the way to drop what waits. */
export function inputRoutes({ pool }: Gateway): Router {
  const router = Router();

  router.get('/runs/:runId/inputs', async (req, res) => {
    const { limit, cursor } = queryOf(req, InputListQuery);
    const { run_id: runId } = await runOf(req, res);
    const after = cursor === undefined ? null : indexCursor(cursor);
    const rows = await listInputs(pool, { runId, after, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? String(page.at(-1)?.input_index) : null;
    res.json({ data: page.map(viewInput), next_cursor: next });
  });

  router.delete('/runs/:runId/inputs', async (req, res) => {
    queryOf(req, NoQuery);
    const { run_id: runId } = await runOf(req, res);
    const dropped = await clearInputs(pool, runId);
    res.json({ data: dropped.map(viewInput), next_cursor: null });
  });

  return router;

  async function runOf(req: Request, res: Response): Promise<RunRow> {
    const run = await findRunOfTenant(pool, tenantOf(res), pathOf(req, 'runId'));
    if (run === null) throw runNotFound();
    return run;
  }
}

function indexCursor(cursor: string): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new TidemarkError('cursor_invalid', 'cursor is not one of this list', 'Send next_cursor as it was given.', {
    facts: { field: 'cursor', in: 'query' },
  });
}

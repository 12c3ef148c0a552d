import { Router, type Request, type Response } from 'express';
import { TidemarkError } from '../../contract/errors.ts';
import { DeadListQuery, FrameListQuery, NoQuery } from '../../contract/rest.ts';
import { speakerOfStep } from '../../contract/sub-agent.ts';
import { captureLossesOf } from '../../infra/postgres/capture-loss.ts';
import { segmentPage } from '../../infra/postgres/frame.ts';
import { findRunOfTenant, type RunRow } from '../../infra/postgres/run.ts';
import { deadIntents, reviveIntent } from '../../infra/postgres/sweep.ts';
import { listSteps } from '../../infra/postgres/step.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { verifyRun } from '../verify-run.ts';
import { pathOf, queryOf } from '../validate.ts';
import { runNotFound } from './runs.ts';

/** What stands behind a run: its native frames, its steps, and the proof that its events are complete (design §8). */
export function evidenceRoutes({ pool }: Gateway): Router {
  const router = Router();

  router.get('/runs/:runId/steps', async (req, res) => {
    queryOf(req, NoQuery);
    const { run_id: runId } = await runOf(req, res);
    const steps = await listSteps(pool, runId);
    res.json({
      data: steps.map((step) => ({
        step_index: step.step_index,
        kind: step.kind,
        label: step.label,
        sub_agent_id: speakerOfStep(runId, step.step_index)?.nativeSessionId ?? null,
        attempt: step.attempt,
        status: step.status,
        error: step.error === null ? null : (JSON.parse(step.error) as unknown),
        started_at: step.started_at.toISOString(),
        ended_at: step.ended_at?.toISOString() ?? null,
      })),
      next_cursor: null,
    });
  });

  router.get('/runs/:runId/frames', async (req, res) => {
    const { limit, cursor } = queryOf(req, FrameListQuery);
    const { run_id: runId, frames_removed_at: removedAt } = await runOf(req, res);
    const segments = await segmentPage(pool, { runId, after: cursor === undefined ? -1 : seqCursor(cursor), limit });
    const data = segments.flatMap(({ firstSeq, provider, stepIndex, attempt, frames }) =>
      frames.map(({ at, frame }, offset) => ({
        seq: firstSeq + offset,
        provider,
        step_index: stepIndex,
        attempt,
        at,
        frame,
      })),
    );
    res.json({
      data,
      next_cursor: segments.length === limit ? String(segments.at(-1)?.firstSeq) : null,
      ...(removedAt === null ? {} : { frames_removed_at: removedAt.toISOString() }),
    });
  });

  router.get('/runs/:runId/verify', async (req, res) => {
    queryOf(req, NoQuery);
    const run = await runOf(req, res);
    res.json({
      run_id: run.run_id,
      canonical_state: run.canonical_state,
      ...(await verifyRun(pool, run)),
      capture_losses: (await captureLossesOf(pool, run.run_id)).map(({ step_index, frames, reason, noted_at }) => ({
        step_index,
        frames,
        reason,
        noted_at: noted_at.toISOString(),
      })),
      frames_removed_at: run.frames_removed_at?.toISOString() ?? null,
      events_removed_at: run.deliveries_removed_at?.toISOString() ?? null,
    });
  });

  router.get('/outbox', async (req, res) => {
    const { limit, cursor } = queryOf(req, DeadListQuery);
    const rows = await deadIntents(pool, { tenantId: tenantOf(res), after: cursor ?? null, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const data = page.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
    res.json({ data, next_cursor: rows.length > limit ? (page.at(-1)?.run_id ?? null) : null });
  });

  router.post('/runs/:runId/canonicalize', async (req, res) => {
    queryOf(req, NoQuery);
    const { run_id: runId, canonical_state: state } = await runOf(req, res);
    if (!(await reviveIntent(pool, runId))) {
      throw new TidemarkError('intent_not_dead', `the run’s canonicalization is ${state}`, 'Nothing to retry.', {
        facts: { canonical_state: state },
      });
    }
    res.status(202).json({ run_id: runId, canonical_state: 'pending' });
  });

  return router;

  async function runOf(req: Request, res: Response): Promise<RunRow> {
    const run = await findRunOfTenant(pool, tenantOf(res), pathOf(req, 'runId'));
    if (run === null) throw runNotFound();
    return run;
  }
}

function seqCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new TidemarkError('cursor_invalid', 'cursor is not one of this list', 'Send next_cursor as it was given.', {
    facts: { field: 'cursor', in: 'query' },
  });
}

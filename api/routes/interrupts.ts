import { Router, type Request, type Response } from 'express';
import { Decision, DECISION_FORMS } from '../../contract/decision.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { InterruptListQuery, NoQuery, ResolveMany } from '../../contract/rest.ts';
import {
  findInterrupt,
  interruptNotFound,
  interruptsOfRun,
  openInterrupts,
  resolveInterrupt,
  resolveInterrupts,
  type InterruptRow,
} from '../../infra/postgres/interrupt.ts';
import { findRunOfTenant } from '../../infra/postgres/run.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { viewInterrupt } from '../run-view.ts';
import { wakeRun } from '../tell-temporal.ts';
import { bodyOf, pathOf, queryOf } from '../validate.ts';
import { runNotFound } from './runs.ts';

/** What waits for a person, and the person's answers (design §8). */
export function interruptRoutes(gateway: Gateway): Router {
  const { pool } = gateway;
  const router = Router();

  router.get('/interrupts', async (req, res) => {
    const { limit, cursor, thread_id: threadId } = queryOf(req, InterruptListQuery);
    const page = { tenantId: tenantOf(res), threadId: threadId ?? null, after: cursor ?? null };
    const rows = await openInterrupts(pool, { ...page, limit: limit + 1 });
    const data = rows.slice(0, limit);
    const next = rows.length > limit ? (data.at(-1)?.interrupt_id ?? null) : null;
    res.json({ data: data.map(viewInterrupt), next_cursor: next });
  });

  router.get('/interrupts/:interruptId', async (req, res) => {
    queryOf(req, NoQuery);
    res.json(viewInterrupt(await interruptOf(req, res)));
  });

  router.post('/interrupts/:interruptId/resolve', async (req, res) => {
    queryOf(req, NoQuery);
    const { interrupt_id: interruptId } = await interruptOf(req, res);
    const { interrupt, changed } = await resolveInterrupt(pool, {
      interruptId,
      decision: decisionOf(req.body, 'decision'),
      actor: 'rest',
    });
    if (changed) wakeRun(gateway, interrupt);
    res.json(viewInterrupt(interrupt));
  });

  router.post('/runs/:runId/interrupts/resolve', async (req, res) => {
    queryOf(req, NoQuery);
    const run = await findRunOfTenant(pool, tenantOf(res), pathOf(req, 'runId'));
    if (run === null) throw runNotFound();
    const { resolutions } = bodyOf(req, ResolveMany);
    const own = new Set((await interruptsOfRun(pool, run.run_id)).map((interrupt) => interrupt.interrupt_id));
    const decisions = resolutions.map(({ interrupt_id: interruptId, ...rest }, i) => {
      if (!own.has(interruptId)) throw interruptNotFound();
      return { interruptId, decision: decisionOf(rest, `resolutions.${String(i)}`) };
    });
    assertEachOnce(decisions);
    const resolved = await resolveInterrupts(pool, decisions, 'rest');
    for (const { interrupt, changed } of resolved) if (changed) wakeRun(gateway, interrupt);
    res.json({ data: resolved.map(({ interrupt }) => viewInterrupt(interrupt)), next_cursor: null });
  });

  return router;

  async function interruptOf(req: Request, res: Response): Promise<InterruptRow> {
    const interrupt = await findInterrupt(pool, pathOf(req, 'interruptId'));
    if (interrupt?.tenant_id !== tenantOf(res)) throw interruptNotFound();
    return interrupt;
  }
}

function decisionOf(body: unknown, field: string): Decision {
  const parsed = Decision.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new TidemarkError('invalid_request', `${field} is no decision`, `Send one of ${DECISION_FORMS}.`, {
    facts: { field, in: 'body' },
  });
}

function assertEachOnce(resolutions: readonly { readonly interruptId: string }[]): void {
  if (new Set(resolutions.map(({ interruptId }) => interruptId)).size === resolutions.length) return;
  throw new TidemarkError('invalid_request', 'resolutions: an interrupt is named twice', 'Name each interrupt once.', {
    facts: { field: 'resolutions', in: 'body' },
  });
}

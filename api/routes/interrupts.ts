import { Router, type Request, type Response } from 'express';
import { Decision, DECISION_FORMS } from '../../contract/decision.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { InterruptListQuery, NoQuery } from '../../contract/rest.ts';
import { markWoken } from '../../infra/postgres/command.ts';
import {
  findInterrupt,
  interruptNotFound,
  openInterrupts,
  resolveInterrupt,
  type InterruptRow,
} from '../../infra/postgres/interrupt.ts';
import { wakeRunWorkflow } from '../../infra/temporal/run-workflow.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { viewInterrupt } from '../run-view.ts';
import { pathOf, queryOf } from '../validate.ts';

/** What waits for a person, and the person's answers (design §8). */
export function interruptRoutes({ pool, temporal, log }: Gateway): Router {
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
    const { interrupt_id: interruptId, run_id: runId } = await interruptOf(req, res);
    const { interrupt, changed } = await resolveInterrupt(pool, {
      interruptId,
      decision: decisionOf(req),
      actor: 'rest',
    });
    if (changed) wake(runId, interruptId);
    res.json(viewInterrupt(interrupt));
  });

  return router;

  /** After the commit, and not waited for: an answer that Temporal is not told of is sent again by a dispatcher. */
  function wake(runId: string, interruptId: string): void {
    wakeRunWorkflow(temporal, runId)
      .then(() => markWoken(pool, interruptId))
      .catch((error: unknown) => {
        log.warn({ err: error, runId, interruptId }, 'run not woken; a dispatcher will');
      });
  }

  async function interruptOf(req: Request, res: Response): Promise<InterruptRow> {
    const interrupt = await findInterrupt(pool, pathOf(req, 'interruptId'));
    if (interrupt?.tenant_id !== tenantOf(res)) throw interruptNotFound();
    return interrupt;
  }
}

function decisionOf(req: Request): Decision {
  const parsed = Decision.safeParse(req.body);
  if (parsed.success) return parsed.data;
  throw new TidemarkError('invalid_request', 'the body is no decision', `Send one of ${DECISION_FORMS}.`, {
    facts: { field: 'decision', in: 'body' },
  });
}

import { Router } from 'express';
import { normalizeNegotiatedCapabilities } from '../../contract/capabilities.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { SessionQuery } from '../../contract/rest.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { sessionsOfThread } from '../../infra/postgres/harness-session.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { pathOf, queryOf } from '../validate.ts';

/** A thread's session with an engine: what was negotiated, and which state of it is committed. The one used last, or `?engine=`. */
export function sessionRoutes({ pool }: Gateway): Router {
  const router = Router();
  router.get('/threads/:threadId/session', async (req, res) => {
    const { engine } = queryOf(req, SessionQuery);
    const thread = await threadOfTenant(pool, tenantOf(res), pathOf(req, 'threadId'));
    if (thread === null) throw threadNotFound();
    const sessions = await sessionsOfThread(pool, thread.thread_id);
    const session = engine === undefined ? sessions[0] : sessions.find((other) => other.engine === engine);
    if (session === undefined) throw sessionNotFound(sessions.map((other) => other.engine));
    res.json({
      thread_id: session.thread_id,
      engine: session.engine,
      provider: session.provider,
      native_session_id: session.native_session_id,
      runtime: { kind: session.runtime_kind, id: session.runtime_id },
      protocol_version: session.protocol_version,
      capabilities: normalizeNegotiatedCapabilities(session.capabilities),
      generation: session.generation,
      revision: session.revision,
      head_ref: session.head_ref,
      durability: session.durability,
      run_id: session.run_id,
      updated_at: session.updated_at.toISOString(),
    });
  });
  return router;
}

function sessionNotFound(engines: readonly string[]): TidemarkError {
  const remedy =
    engines.length === 0
      ? 'A session begins with the first run that an engine works on; look again then.'
      : `Leave "engine" out, or give one of: ${engines.join(', ')}.`;
  return new TidemarkError('session_not_found', 'the thread has no such session', remedy, { facts: { engines } });
}

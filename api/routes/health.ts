import { Router } from 'express';
import { TidemarkError } from '../../contract/errors.ts';
import type { Gateway } from '../gateway.ts';

/** Liveness and readiness, open to everyone. Ready: not draining, and the database answers. */
export function healthRoutes(gateway: Gateway): Router {
  const router = Router();
  router.get('/livez', (_req, res) => {
    res.json({ status: 'live' });
  });
  router.get('/readyz', async (_req, res) => {
    if (gateway.draining) throw new TidemarkError('draining', 'this gateway is going away', 'Use another one.');
    try {
      await gateway.pool.query('select 1');
    } catch (cause) {
      throw new TidemarkError('unavailable', 'the database does not answer', 'Wait, or see the gateway’s log.', {
        cause,
      });
    }
    res.json({ status: 'ready' });
  });
  return router;
}

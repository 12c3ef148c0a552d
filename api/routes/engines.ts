import { Router } from 'express';
import { ENGINE_NAMES } from '../../contract/engines.ts';
import { NoQuery } from '../../contract/rest.ts';
import type { Gateway } from '../gateway.ts';
import { offeredModels } from '../models.ts';
import { queryOf } from '../validate.ts';

/** The engines and models that a run may name. */
export function engineRoutes({ config }: Gateway): Router {
  const router = Router();
  router.get('/engines', (req, res) => {
    queryOf(req, NoQuery);
    const data = ENGINE_NAMES.map((engine) => ({ engine, models: offeredModels(config), default_model: config.model }));
    res.json({ data, next_cursor: null });
  });
  return router;
}

import { Router } from 'express';
import { BUILTIN_ENGINE, ENGINE_CAPABILITIES } from '../../contract/engines.ts';
import { NoQuery } from '../../contract/rest.ts';
import type { EngineSettings } from '../../infra/engine-settings.ts';
import { findEngine } from '../../infra/find-engine.ts';
import type { Gateway } from '../gateway.ts';
import { offerOf } from '../extension-providers.ts';
import { offeredModels } from '../models.ts';
import { queryOf } from '../validate.ts';

/**
 * The engines that a run may name: what each can do at most, and whether the gateway's machine has it, which is the workers'
 * where they share one.
 */
export function engineRoutes(gateway: Gateway): Router {
  const { config, engines } = gateway;
  const router = Router();
  router.get('/engines', async (req, res) => {
    queryOf(req, NoQuery);
    const builtin = {
      engine: BUILTIN_ENGINE,
      kind: 'builtin',
      installed: true,
      version: null,
      how_to_install: null,
      capabilities: ENGINE_CAPABILITIES.builtin,
      models: offeredModels(config, (await offerOf(gateway)).extensionProviders),
      default_model: config.model,
    };
    res.json({ data: [builtin, ...[...engines].map(viewEngine)], next_cursor: null });
  });
  return router;

  /** Its models are its own to know: `models` is null, any name may be tried. */
  function viewEngine([engine, settings]: [string, EngineSettings]) {
    const { installed, version, howToInstall } = findEngine(config, settings);
    return {
      engine,
      kind: settings.kind,
      installed,
      version,
      how_to_install: howToInstall,
      capabilities: ENGINE_CAPABILITIES[settings.kind],
      models: null,
      default_model: settings.kind === 'lifecycle' ? null : (settings.model ?? null),
    };
  }
}

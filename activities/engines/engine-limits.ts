import type { EngineSettings } from '../../infra/engine-settings.ts';
import type { EngineLimits } from './driver.ts';

/** What its settings allow an engine. */
export function limitsOf(settings: EngineSettings): EngineLimits {
  return {
    stallMs: settings.stallSeconds * 1_000,
    toolStallMs: settings.toolStallSeconds * 1_000,
    turnMs: settings.turnMinutes * 60_000,
    hotMs: settings.hotMinutes * 60_000,
  };
}

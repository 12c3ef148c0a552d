import { dirname, resolve } from 'node:path';
import { TidemarkError } from '../../../contract/errors.ts';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import type { OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { LifecycleDriver } from './driver.ts';
import { modulePeer } from './module-peer.ts';
import { LIFECYCLE_CAPABILITIES } from './negotiated.ts';
import type { AdapterPeer } from './peer.ts';
import { remotePeer } from './remote-peer.ts';
import { translateLifecycleFrame } from './translate.ts';

type LifecycleSettings = EngineSettingsOf<'lifecycle'>;

/** An adapter of Canonical Lifecycle Events v1 as an engine: a module in the worker, or a service. */
export function createLifecycleEngine(name: string, settings: LifecycleSettings, deps: EngineDeps): OpaqueEngine {
  return {
    drive: 'opaque',
    name,
    provider: `lifecycle:${name}`,
    capabilities: LIFECYCLE_CAPABILITIES,
    translate: translateLifecycleFrame,
    limits: limitsOf(settings),
    createDriver: (context) => new LifecycleDriver(context, name, () => peerOf(name, settings, deps)),
  };
}

function peerOf(name: string, settings: LifecycleSettings, { config: { configFile } }: EngineDeps): AdapterPeer {
  const { module, url } = settings;
  if (url !== undefined && module === undefined) return remotePeer(name, url, settings);
  if (module !== undefined && url === undefined) {
    return modulePeer(name, configFile === undefined ? resolve(module) : resolve(dirname(configFile), module));
  }
  const remedy = `Set engines.${name}.module or engines.${name}.url in tidemark.config.ts, one of the two.`;
  throw new TidemarkError('engine_unavailable', `the engine ${name} has no adapter, or two`, remedy);
}

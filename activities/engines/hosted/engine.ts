import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { TranslateFrame } from '../../../contract/translation.ts';
import { ENGINE_CAPABILITIES } from '../../../contract/engines.ts';
import type { EngineSettingsOf, HostedKind } from '../../../infra/engine-settings.ts';
import { hostedSessionsRoot } from '../../hosted-sessions.ts';
import type { DriverContext, OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { engineEnv } from '../process/engine-env.ts';
import { startEngineProcess } from '../process/engine-process.ts';
import { HostedDriver } from './driver.ts';
import { hostCommand } from './host-launch.ts';

type HostedSettings = EngineSettingsOf<HostedKind>;
type HostedDeps = { readonly config: Pick<EngineDeps['config'], 'home'> };

/** An agent that is a module of the user's, as an engine. */
export function createHostedEngine(
  name: string,
  settings: HostedSettings,
  { deps, translate }: { readonly deps: HostedDeps; readonly translate: TranslateFrame },
): OpaqueEngine {
  const { kind } = settings;
  return {
    drive: 'opaque',
    name,
    provider: `${kind}:${name}`,
    capabilities: ENGINE_CAPABILITIES[kind],
    translate,
    limits: limitsOf(settings),
    createDriver: (context) => createDriver(context, { name, settings, deps }),
  };
}

function createDriver(
  context: DriverContext,
  { name, settings, deps }: { name: string; settings: HostedSettings; deps: HostedDeps },
): HostedDriver {
  const { workspace, runId, threadId, log } = context;
  const { kind, module, memoryMb } = settings;
  return new HostedDriver(context, {
    name,
    kind,
    opening: {
      model: context.model ?? settings.model ?? null,
      sessions: join(hostedSessionsRoot(deps.config), threadId, name),
      options: settings.kind === 'langgraph' ? { events: settings.events } : {},
    },
    launchId: randomBytes(6).toString('hex'),
    start: () =>
      startEngineProcess({
        command: hostCommand(kind, module),
        cwd: workspace,
        env: engineEnv(settings),
        memoryMb,
        mark: runId,
        log,
      }),
  });
}

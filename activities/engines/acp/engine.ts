import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import type { DriverContext, OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { engineEnv } from '../process/engine-env.ts';
import { startEngineProcess } from '../process/engine-process.ts';
import { ClientFiles } from '../files/client-files.ts';
import { ClientTerminals } from './client-terminals.ts';
import { AcpDriver } from './driver.ts';
import { KeptContent } from './kept-content.ts';
import { ACP_CAPABILITIES } from './negotiated.ts';
import { ACP_PRESETS } from './presets.ts';
import { translateAcpFrame } from './translate.ts';

type AcpSettings = EngineSettingsOf<'acp'>;

/** An agent of the Agent Client Protocol as an engine, by its settings and what is known of it beforehand. */
export function createAcpEngine(name: string, settings: AcpSettings, deps: EngineDeps): OpaqueEngine {
  const complete = withPreset(settings);
  return {
    drive: 'opaque',
    name,
    provider: `acp:${name}`,
    capabilities: ACP_CAPABILITIES,
    translate: translateAcpFrame,
    limits: limitsOf(settings),
    createDriver: (context) => createDriver(context, { name, settings: complete, deps }),
  };
}

function createDriver(
  context: DriverContext,
  { name, settings, deps }: { name: string; settings: AcpSettings; deps: EngineDeps },
): AcpDriver {
  const { workspace, runId, log } = context;
  const { memoryMb } = settings;
  const roots = [...new Set([workspace, realpathSync(workspace)])];
  const files = new ClientFiles(workspace, roots);
  const terminals = new ClientTerminals({
    workspace,
    roots,
    env: (extra) => engineEnv({ passEnv: [], env: {} }, extra),
    start(options) {
      return startEngineProcess({ ...options, mark: runId, memoryMb, log });
    },
  });
  return new AcpDriver(context, {
    name,
    wanted: { mode: settings.mode ?? null, model: context.model ?? settings.model ?? null, options: settings.options },
    files,
    offersFiles: settings.preset === undefined || ACP_PRESETS[settings.preset].usesClientFiles,
    terminals,
    kept: new KeptContent({ keep: (kept) => context.keep(kept), files, roots }),
    launchId: randomBytes(6).toString('hex'),
    start: () =>
      startEngineProcess({
        command: deps.find(settings),
        cwd: workspace,
        env: engineEnv(settings),
        memoryMb,
        mark: runId,
        log,
      }),
  });
}

/** The settings with what the preset adds; what is set by hand wins. */
function withPreset(settings: AcpSettings): AcpSettings {
  if (settings.preset === undefined) return settings;
  const { mode, env, passEnv } = ACP_PRESETS[settings.preset];
  return {
    ...(mode === null ? {} : { mode }),
    ...settings,
    env: { ...env, ...settings.env },
    passEnv: [...passEnv, ...settings.passEnv],
  };
}

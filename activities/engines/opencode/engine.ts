import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { ClientFiles } from '../files/client-files.ts';
import { ACP_PRESETS } from '../acp/presets.ts';
import type { DriverContext, OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { engineEnv } from '../process/engine-env.ts';
import { startEngineProcess } from '../process/engine-process.ts';
import { OpencodeDriver } from './driver.ts';
import { modelChoice } from './model-choice.ts';
import { OPENCODE_CAPABILITIES } from './negotiated.ts';
import { translateOpencodeFrame } from './translate.ts';

type OpencodeSettings = EngineSettingsOf<'opencode'>;

const USERNAME = 'tidemark';

/** OpenCode by its own server, as an engine. */
export function createOpencodeEngine(
  name: string,
  settings: OpencodeSettings,
  deps: Pick<EngineDeps, 'find'>,
): OpaqueEngine {
  return {
    drive: 'opaque',
    name,
    provider: 'opencode',
    capabilities: OPENCODE_CAPABILITIES,
    translate: translateOpencodeFrame,
    limits: limitsOf(settings),
    createDriver: (context) => createDriver(context, { name, settings, deps }),
  };
}

function createDriver(
  context: DriverContext,
  { name, settings, deps }: { name: string; settings: OpencodeSettings; deps: Pick<EngineDeps, 'find'> },
): OpencodeDriver {
  const { workspace, runId, log } = context;
  const { agent, modelRetries, memoryMb } = settings;
  const model = context.model ?? settings.model ?? null;
  const { env, passEnv } = ACP_PRESETS.opencode;
  // whoever else is on this machine must not drive it
  const credentials = { username: USERNAME, password: randomBytes(24).toString('base64url') };
  const directory = realpathSync(workspace);
  const roots = [...new Set([workspace, directory])];
  return new OpencodeDriver(context, {
    name,
    directory,
    roots,
    files: new ClientFiles(workspace, roots),
    credentials,
    choice: () => ({
      ...(agent === undefined ? {} : { agent }),
      ...(model === null ? {} : { model: modelChoice(model) }),
    }),
    modelRetries,
    start: () =>
      startEngineProcess({
        command: deps.find(settings),
        cwd: workspace,
        env: engineEnv(
          { passEnv: [...passEnv, ...settings.passEnv], env: { ...env, ...settings.env } },
          { OPENCODE_SERVER_USERNAME: credentials.username, OPENCODE_SERVER_PASSWORD: credentials.password },
        ),
        memoryMb,
        mark: runId,
        log,
      }),
  });
}

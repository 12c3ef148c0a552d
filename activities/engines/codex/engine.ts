import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import type { DriverContext, OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { engineEnv } from '../process/engine-env.ts';
import { startEngineProcess } from '../process/engine-process.ts';
import { CodexDriver } from './driver.ts';
import { CODEX_CAPABILITIES } from './negotiated.ts';
import { translateCodexFrame } from './translate.ts';

type CodexSettings = EngineSettingsOf<'codex'>;

/** What Codex itself reads: whose account it uses, and where it keeps its threads. */
export const PASSED_ENV = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'CODEX_API_KEY', 'CODEX_HOME'];

/** Codex by its own protocol, as an engine. */
export function createCodexEngine(name: string, settings: CodexSettings, deps: Pick<EngineDeps, 'find'>): OpaqueEngine {
  return {
    drive: 'opaque',
    name,
    provider: 'codex',
    capabilities: CODEX_CAPABILITIES,
    translate: translateCodexFrame,
    limits: limitsOf(settings),
    createDriver: (context) => createDriver(context, { name, settings, deps }),
  };
}

function createDriver(
  context: DriverContext,
  { name, settings, deps }: { name: string; settings: CodexSettings; deps: Pick<EngineDeps, 'find'> },
): CodexDriver {
  const { workspace, runId, log } = context;
  const { approvalPolicy, sandbox, collaborationMode: mode, memoryMb } = settings;
  return new CodexDriver(context, {
    name,
    settings: { cwd: workspace, approvalPolicy, sandbox, model: context.model ?? settings.model ?? null },
    mode,
    roots: [...new Set([workspace, realpathSync(workspace)])],
    launchId: randomBytes(6).toString('hex'),
    start: () =>
      startEngineProcess({
        command: deps.find(settings),
        cwd: workspace,
        env: engineEnv({ ...settings, passEnv: [...PASSED_ENV, ...settings.passEnv] }),
        memoryMb,
        mark: runId,
        log,
      }),
  });
}

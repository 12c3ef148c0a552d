import { realpathSync } from 'node:fs';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { ClientFiles } from '../files/client-files.ts';
import { PASSED_ENV } from '../codex/engine.ts';
import type { DriverContext, OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { engineEnv } from '../process/engine-env.ts';
import { startEngineProcess } from '../process/engine-process.ts';
import { argumentsOf } from './arguments.ts';
import { CodexExecDriver, type CodexExecDriverParts } from './driver.ts';
import { ExecFrameRecorder } from './frame-recorder.ts';
import { KeptItems } from './kept-items.ts';
import { CODEX_EXEC_CAPABILITIES } from './negotiated.ts';
import { isKept } from './rollout.ts';
import { translateCodexExecFrame } from './translate.ts';

type CodexExecSettings = EngineSettingsOf<'codex-exec'>;

const ENDS_WITHIN_MS = 2_000;

/** Codex where nobody answers, one process a turn, as an engine. */
export function createCodexExecEngine(
  name: string,
  settings: CodexExecSettings,
  deps: Pick<EngineDeps, 'find'>,
): OpaqueEngine {
  return {
    drive: 'opaque',
    name,
    provider: 'codex-exec',
    capabilities: CODEX_EXEC_CAPABILITIES,
    translate: translateCodexExecFrame,
    limits: limitsOf(settings),
    createDriver: (context) => new CodexExecDriver(context, partsOf(context, { name, settings, deps })),
  };
}

/** What a driver of these settings is made of. */
export function partsOf(
  context: DriverContext,
  { name, settings, deps }: { name: string; settings: CodexExecSettings; deps: Pick<EngineDeps, 'find'> },
): CodexExecDriverParts {
  const { workspace, runId, log } = context;
  const { memoryMb } = settings;
  const roots = [...new Set([workspace, realpathSync(workspace)])];
  const env = engineEnv({ ...settings, passEnv: [...PASSED_ENV, ...settings.passEnv] });
  return {
    name,
    isKept: async (threadId) => await isKept(threadId, env),
    argsOf: (threadId) => argumentsOf(settings, { model: context.model ?? settings.model ?? null, threadId }),
    find: () => deps.find(settings),
    start: (command) => startEngineProcess({ command, cwd: workspace, env, memoryMb, mark: runId, log }),
    recorder: () => {
      const files = new ClientFiles(workspace, roots);
      const kept = new KeptItems({ keep: (each) => context.keep(each), files, roots });
      return new ExecFrameRecorder((frame) => context.emit(frame), kept);
    },
    endsWithinMs: ENDS_WITHIN_MS,
  };
}

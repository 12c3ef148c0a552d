import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE_CAPABILITIES } from '../../../contract/engines.ts';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import type { DriverContext, OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { engineEnv } from '../process/engine-env.ts';
import { startEngineProcess } from '../process/engine-process.ts';
import { PiDriver } from './driver.ts';
import { ASK_FLAG, RUN_FLAG } from './extension/protocol.ts';
import { translatePiFrame } from './translate.ts';

type PiSettings = EngineSettingsOf<'pi'>;

/** What pi itself reads: where its configuration is, and the keys of the providers that are named most. */
const PASSED_ENV = [
  ...['PI_CODING_AGENT_DIR', 'PI_CODING_AGENT_SESSION_DIR', 'PI_OFFLINE'],
  ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY'],
];
/** Nobody updates it from here, nor counts it. */
const SET_ENV = { PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' };
const EXTENSION = join(import.meta.dirname, 'extension', 'extension.ts');

/** pi by its RPC, as an engine. */
export function createPiEngine(name: string, settings: PiSettings, deps: Pick<EngineDeps, 'find'>): OpaqueEngine {
  return {
    drive: 'opaque',
    name,
    provider: 'pi',
    capabilities: ENGINE_CAPABILITIES.pi,
    translate: translatePiFrame,
    limits: limitsOf(settings),
    createDriver: (context) => createDriver(context, { name, settings, deps }),
  };
}

function createDriver(
  context: DriverContext,
  { name, settings, deps }: { name: string; settings: PiSettings; deps: Pick<EngineDeps, 'find'> },
): PiDriver {
  const { workspace, runId, log } = context;
  const { passEnv, env, memoryMb } = settings;
  return new PiDriver(context, {
    name,
    roots: [...new Set([workspace, realpathSync(workspace)])],
    start: (sessionId) =>
      startEngineProcess({
        command: [...deps.find(settings), ...argumentsOf(context, { settings, sessionId })],
        cwd: workspace,
        env: engineEnv({ passEnv: [...PASSED_ENV, ...passEnv], env: { ...SET_ENV, ...env } }),
        memoryMb,
        mark: runId,
        log,
      }),
  });
}

function argumentsOf(
  { runId, model: wanted }: DriverContext,
  { settings, sessionId }: { settings: PiSettings; sessionId: string | null },
): string[] {
  const model = wanted ?? settings.model;
  return [
    ...['--extension', EXTENSION, `--${ASK_FLAG}=${settings.ask.join(',')}`, `--${RUN_FLAG}=${runId}`],
    ...(model === undefined ? [] : ['--model', model]),
    ...(sessionId === null ? [] : ['--session-id', sessionId]),
  ];
}

import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import type { DriverContext, OpaqueEngine } from '../driver.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { limitsOf } from '../engine-limits.ts';
import { engineEnv } from '../process/engine-env.ts';
import { startEngineProcess } from '../process/engine-process.ts';
import { ClaudeDriver } from './driver.ts';
import { CLAUDE_CAPABILITIES } from './negotiated.ts';
import { programArguments } from './program-arguments.ts';
import { translateClaudeFrame } from './translate.ts';

type ClaudeSettings = EngineSettingsOf<'claude'>;

/** What Claude Code itself reads: whose account it uses, where it asks for its model, and where it keeps its sessions. */
const PASSED_ENV = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
  ...['CLAUDE_CONFIG_DIR', 'IS_SANDBOX'],
];
const QUIET_ENV = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };
/** It then says when it is idle, as it says to its own SDK. */
const STATES_ENV = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' };

/** Claude Code by its own protocol, as an engine. */
export function createClaudeEngine(
  name: string,
  settings: ClaudeSettings,
  deps: Pick<EngineDeps, 'find'>,
): OpaqueEngine {
  return {
    drive: 'opaque',
    name,
    provider: 'claude',
    capabilities: CLAUDE_CAPABILITIES,
    translate: translateClaudeFrame,
    limits: limitsOf(settings),
    createDriver: (context) => createDriver(context, { name, settings, deps }),
  };
}

function createDriver(
  context: DriverContext,
  { name, settings, deps }: { name: string; settings: ClaudeSettings; deps: Pick<EngineDeps, 'find'> },
): ClaudeDriver {
  const { workspace, runId, log } = context;
  const { memoryMb, env, passEnv } = settings;
  const model = context.model ?? settings.model ?? null;
  return new ClaudeDriver(context, {
    name,
    roots: [...new Set([workspace, realpathSync(workspace)])],
    launchId: randomBytes(6).toString('hex'),
    start: (session) =>
      startEngineProcess({
        command: [...deps.find(settings), ...programArguments(settings, { session, model })],
        cwd: workspace,
        env: engineEnv({ env: { ...QUIET_ENV, ...env }, passEnv: [...PASSED_ENV, ...passEnv] }, STATES_ENV),
        memoryMb,
        mark: runId,
        log,
      }),
  });
}

import { TidemarkError } from '../../contract/errors.ts';
import type { Config } from '../../infra/config.ts';
import type { EngineSettings, HostedKind } from '../../infra/engine-settings.ts';
import { findEngine } from '../../infra/find-engine.ts';
import { ACP_PRESETS } from './acp/presets.ts';

/** What an engine with a loop of its own is made with. */
export interface EngineDeps {
  readonly config: Config;
  /**
   * The program that settings stand for on this machine, and its arguments, looked up anew each time.
   *
   * @throws TidemarkError `engine_unavailable` when it is not installed, with what installs it.
   */
  find(settings: ProgramSettings): readonly string[];
}

type ProgramSettings = Exclude<EngineSettings, { kind: 'lifecycle' | HostedKind }>;

export function createEngineDeps(config: Config): EngineDeps {
  return {
    config,
    find(settings) {
      const { path, howToInstall } = findEngine(config, settings);
      if (path === null) throw notInstalled(settings.kind, howToInstall ?? '');
      return [path, ...argumentsOf(settings)];
    },
  };
}

/** Of a command that is given, its own; a preset knows what makes it speak its protocol. */
function argumentsOf(settings: ProgramSettings): readonly string[] {
  if (settings.command !== undefined) return settings.command.slice(1);
  switch (settings.kind) {
    case 'acp':
      return settings.preset === undefined ? [] : ACP_PRESETS[settings.preset].args;
    case 'claude':
      // its driver gives them with each session
      return [];
    case 'codex':
      return ['app-server'];
    case 'codex-exec':
      return ['exec'];
    case 'opencode':
      // a port of its own, which it prints
      return ['serve', '--hostname', '127.0.0.1', '--port', '0'];
    case 'pi':
      return ['--mode', 'rpc'];
  }
}

function notInstalled(kind: string, howToInstall: string): TidemarkError {
  return new TidemarkError('engine_unavailable', `the ${kind} engine of this run is not installed`, howToInstall);
}

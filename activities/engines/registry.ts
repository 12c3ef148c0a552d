import { BUILTIN_ENGINE, BUILTIN_PROTOCOL, ENGINE_CAPABILITIES } from '../../contract/engines.ts';
import { TidemarkError } from '../../contract/errors.ts';
import type { EngineSettings } from '../../infra/engine-settings.ts';
import type { ConfiguredEngines } from '../../infra/tidemark-config.ts';
import { createAcpEngine } from './acp/engine.ts';
import { translateBuiltinFrame } from './builtin/translate.ts';
import { createClaudeEngine } from './claude/engine.ts';
import { createCodexEngine } from './codex/engine.ts';
import { createCodexExecEngine } from './codex-exec/engine.ts';
import type { Engine, Engines, OpaqueEngine, SteppedEngine } from './driver.ts';
import type { EngineDeps } from './engine-deps.ts';
import { translateAiSdkFrame } from './ai-sdk/translate.ts';
import { createHostedEngine } from './hosted/engine.ts';
import { translateLangGraphFrame } from './langgraph/translate.ts';
import { createLifecycleEngine } from './lifecycle/engine.ts';
import { createOpencodeEngine } from './opencode/engine.ts';
import { createPiEngine } from './pi/engine.ts';

const BUILTIN: SteppedEngine = {
  drive: 'stepped',
  name: BUILTIN_ENGINE,
  provider: 'builtin',
  protocol: BUILTIN_PROTOCOL,
  capabilities: ENGINE_CAPABILITIES.builtin,
  translate: translateBuiltinFrame,
};

/** The engines of a worker: the built-in one, and what its configuration names. */
export function createEngines(configured: ConfiguredEngines, deps: EngineDeps): Engines {
  const engines = new Map<string, Engine>([[BUILTIN_ENGINE, BUILTIN]]);
  for (const [name, settings] of configured) engines.set(name, createEngine(name, settings, deps));
  const of = (name: string): Engine => {
    const engine = engines.get(name);
    if (engine !== undefined) return engine;
    throw new TidemarkError(
      'unknown_engine',
      `this worker has no engine named ${name}`,
      'Start its workers with the tidemark.config.ts of the gateway that took the run.',
    );
  };
  return {
    of,
    opaque(name) {
      const engine = of(name);
      if (engine.drive === 'opaque') return engine;
      throw new Error(`the engine ${name} has no loop of its own`);
    },
  };
}

function createEngine(name: string, settings: EngineSettings, deps: EngineDeps): OpaqueEngine {
  switch (settings.kind) {
    case 'acp':
      return createAcpEngine(name, settings, deps);
    case 'ai-sdk':
      return createHostedEngine(name, settings, { deps, translate: translateAiSdkFrame });
    case 'langgraph':
      return createHostedEngine(name, settings, { deps, translate: translateLangGraphFrame });
    case 'claude':
      return createClaudeEngine(name, settings, deps);
    case 'codex':
      return createCodexEngine(name, settings, deps);
    case 'codex-exec':
      return createCodexExecEngine(name, settings, deps);
    case 'lifecycle':
      return createLifecycleEngine(name, settings, deps);
    case 'opencode':
      return createOpencodeEngine(name, settings, deps);
    case 'pi':
      return createPiEngine(name, settings, deps);
  }
}

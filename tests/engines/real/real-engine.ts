import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { loadConfig } from '../../../infra/config.ts';
import { ENGINE_PACKAGES, type EnginePackageName } from '../../../infra/engine-packages.ts';
import { describeDriver } from '../driver.testsuite.ts';
import type { EngineSettings, EngineSubject } from '../subject.ts';
import type { Fault } from './model-fault.ts';
import { describeModelFaults } from './model-faults.testsuite.ts';
import { startScriptedModel, type EngineTools } from './scripted-model.ts';

/** An engine as people install it, with a scripted model in the place of its own. */
export interface RealEngine extends Pick<EngineSubject, 'trials'> {
  /** Of its package under `<home>/engines`. */
  readonly name: EnginePackageName;
  /** Of its record, where that is not the package and its version. */
  readonly record?: string;
  readonly tools: EngineTools;
  /** Its settings, when its own home is `folder`, an empty one, and its model answers under `modelUrl`. */
  configure(options: { readonly folder: string; readonly modelUrl: string }): Promise<EngineSettings>;
  /** The error of a run whose model fails so, or why that is not tried. */
  readonly faults: Readonly<Record<Fault, 'engine_failed' | 'engine_stalled' | { readonly cannot: string }>>;
}

/** What every engine must do, and what only one with a model can: the model's server fails. */
export function describeRealEngine(engine: RealEngine): void {
  // the table says which version was tried
  const name = engine.record ?? `${engine.name}-${ENGINE_PACKAGES[engine.name].version}`;
  const subject: EngineSubject = { name, trials: engine.trials, resumes: true, start: () => start(engine) };
  describeDriver(subject);
  describeModelFaults(subject, engine.faults);
}

async function start(engine: RealEngine) {
  const model = await startScriptedModel(engine.tools);
  const home = await mkdtemp(join(inject('scratch'), 'home-'));
  const folder = join(home, 'engine-home');
  await mkdir(folder);
  // where the stack's processes look for what `npm run engines` has installed
  await symlink(join(loadConfig().home, 'engines'), join(home, 'engines'));
  return {
    settings: await engine.configure({ folder, modelUrl: model.url }),
    env: { TIDEMARK_HOME: home },
    stop: () => model.stop(),
  };
}

/** What depends on the platform alone, and takes long with an engine that is slow to start. */
export const BY_FIXTURES = { cannot: 'the same for every engine: tried with the scripted ones' } as const;

/** What an adapter of a program shows no more of than the program by its own protocol, which is tried too. */
export const BY_OWN_PROTOCOL = { cannot: 'the same program, tried by its own protocol' } as const;

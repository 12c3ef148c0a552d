import { normalizeNegotiatedCapabilities, type NegotiatedCapabilities } from '../../contract/capabilities.ts';
import { TidemarkError } from '../../contract/errors.ts';
import type { TranslateFrame } from '../../contract/translation.ts';
import { translateBuiltinFrame } from './builtin/translate.ts';

/** What the platform must know of an engine before it runs it. */
export interface EngineDescriptor {
  readonly provider: string;
  readonly protocol: string;
  /** `stepped`: the loop is workflow code. */
  readonly drive: 'stepped';
  readonly capabilities: NegotiatedCapabilities;
  readonly translate: TranslateFrame;
}

const ENGINES: Readonly<Record<string, EngineDescriptor>> = {
  builtin: {
    provider: 'builtin',
    protocol: 'tidemark-builtin/1',
    drive: 'stepped',
    capabilities: normalizeNegotiatedCapabilities({
      streamingText: true,
      reasoning: true,
      toolProgress: true,
      approvals: true,
      questions: true,
      usage: true,
      modelSelection: true,
      resume: true,
      stop: true,
      reconcile: true,
    }),
    translate: translateBuiltinFrame,
  },
};

/** The engine of a run. A stored run names an engine that was known when it was accepted. */
export function engineOf(name: string): EngineDescriptor {
  const engine = ENGINES[name];
  if (engine !== undefined) return engine;
  throw new TidemarkError('unknown_engine', `this worker has no engine named ${name}`, 'Run a worker that has it.');
}

import { CAPABILITY_FLAGS, type CapabilityFlag, type NegotiatedCapabilities } from './capabilities.ts';

/** The engine whose loop is Tidemark's own; it is always there. */
export const BUILTIN_ENGINE = 'builtin';

/** What its sessions say of themselves. */
export const BUILTIN_PROTOCOL = 'tidemark-builtin/1';

/** What an engine is driven by: Tidemark's own loop, or one of the drivers for loops of others. */
export type EngineKind =
  | 'builtin'
  | 'acp'
  | 'ai-sdk'
  | 'claude'
  | 'codex'
  | 'codex-exec'
  | 'langgraph'
  | 'lifecycle'
  | 'opencode'
  | 'pi';

/** The model of a run whose engine chooses for itself. */
export const ENGINES_OWN_MODEL = 'default';

/** What a run may name as the model of an engine that has its own list. */
export const ENGINE_MODEL_NAME = /^[\w.:/@-]{1,150}$/;

/** What each kind can do at most; what a session really has is negotiated with the engine. */
export const ENGINE_CAPABILITIES: Readonly<Record<EngineKind, NegotiatedCapabilities>> = {
  builtin: only(
    ...(['streamingText', 'reasoning', 'toolProgress', 'approvals', 'questions', 'usage', 'modelSelection'] as const),
    ...(['childSessions', 'resume', 'stop', 'reconcile'] as const),
  ),
  acp: only(
    ...([
      'streamingText',
      'reasoning',
      'plans',
      'toolProgress',
      'fileDiffs',
      'approvals',
      'questions',
      'usage',
    ] as const),
    ...(['childSessions', 'modelSelection', 'commands', 'resume', 'load', 'close', 'stop'] as const),
  ),
  'ai-sdk': only(
    ...(['streamingText', 'reasoning', 'plans', 'toolProgress', 'childSessions', 'approvals', 'questions'] as const),
    ...(['usage', 'modelSelection', 'resume', 'stop'] as const),
  ),
  claude: only(
    ...(['streamingText', 'reasoning', 'plans', 'toolProgress', 'fileDiffs', 'childSessions', 'approvals'] as const),
    ...(['questions', 'usage', 'modelSelection', 'commands', 'resume', 'stop'] as const),
  ),
  codex: only(
    ...(['streamingText', 'reasoning', 'plans', 'toolProgress', 'fileDiffs', 'childSessions', 'approvals'] as const),
    ...(['questions', 'usage', 'modelSelection', 'resume', 'stop', 'reconcile'] as const),
  ),
  'codex-exec': only(
    ...(['reasoning', 'plans', 'fileDiffs', 'childSessions', 'usage', 'modelSelection', 'resume', 'stop'] as const),
  ),
  langgraph: only(
    ...(['streamingText', 'reasoning', 'plans', 'toolProgress', 'childSessions', 'approvals', 'questions'] as const),
    ...(['usage', 'modelSelection', 'resume', 'stop'] as const),
  ),
  lifecycle: only(
    ...(['streamingText', 'reasoning', 'toolProgress', 'childSessions', 'approvals', 'questions', 'usage'] as const),
    ...(['resume', 'stop'] as const),
  ),
  opencode: only(
    ...(['streamingText', 'reasoning', 'plans', 'toolProgress', 'fileDiffs', 'childSessions', 'approvals'] as const),
    ...(['questions', 'usage', 'modelSelection', 'commands', 'resume', 'stop', 'reconcile'] as const),
  ),
  pi: only(
    ...(['streamingText', 'reasoning', 'plans', 'toolProgress', 'fileDiffs', 'approvals', 'questions'] as const),
    ...(['usage', 'modelSelection', 'commands', 'resume', 'stop', 'reconcile'] as const),
  ),
};

function only(...flags: readonly CapabilityFlag[]): NegotiatedCapabilities {
  return Object.fromEntries(CAPABILITY_FLAGS.map((flag) => [flag, flags.includes(flag)])) as NegotiatedCapabilities;
}

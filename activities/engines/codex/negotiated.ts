import { normalizeNegotiatedCapabilities, type NegotiatedCapabilities } from '../../../contract/capabilities.ts';

/** The app-server negotiates nothing: what it can do is its protocol's version, and this driver carries out all of this. */
export const CODEX_CAPABILITIES: NegotiatedCapabilities = normalizeNegotiatedCapabilities({
  streamingText: true,
  reasoning: true,
  plans: true,
  toolProgress: true,
  fileDiffs: true,
  childSessions: true,
  approvals: true,
  questions: true,
  usage: true,
  modelSelection: true,
  resume: true,
  stop: true,
  reconcile: true,
});

/** The generation of the protocol (`v2` of the engine's own types): a session of another one is not taken up. */
export const CODEX_PROTOCOL_VERSION = 'app-server/2';

import { normalizeNegotiatedCapabilities, type NegotiatedCapabilities } from '../../../contract/capabilities.ts';

/** The server negotiates nothing: what it can do is its version, and this driver carries out all of this. */
export const OPENCODE_CAPABILITIES: NegotiatedCapabilities = normalizeNegotiatedCapabilities({
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
  commands: true,
  resume: true,
  stop: true,
  reconcile: true,
});

/** The generation of the server's own interface: a session of another one is not taken up. */
export const OPENCODE_PROTOCOL_VERSION = 'opencode-serve/1';

import { ENGINE_CAPABILITIES } from '../../../contract/engines.ts';
import type { NegotiatedCapabilities } from '../../../contract/capabilities.ts';

/** The command line negotiates nothing: what it can do is its version, and this driver carries out all of that. */
export const CODEX_EXEC_CAPABILITIES: NegotiatedCapabilities = ENGINE_CAPABILITIES['codex-exec'];

/** The generation of the events: a session of another one is not taken up. */
export const CODEX_EXEC_PROTOCOL_VERSION = 'exec-json/1';

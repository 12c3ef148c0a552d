import { ENGINE_CAPABILITIES } from '../../../contract/engines.ts';

/** Claude Code negotiates nothing: what it can do is its protocol, and this driver carries out all of it. */
export const CLAUDE_CAPABILITIES = ENGINE_CAPABILITIES.claude;

/** The protocol has no version of its own; a session that another driver began is not taken up. */
export const CLAUDE_PROTOCOL_VERSION = 'stream-json/1';

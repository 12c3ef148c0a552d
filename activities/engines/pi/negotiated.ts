import type { NegotiatedCapabilities } from '../../../contract/capabilities.ts';
import { ENGINE_CAPABILITIES } from '../../../contract/engines.ts';
import { PLAN_TOOL } from './tools.ts';

/** The generation of pi's RPC as this driver speaks it: a session of another one is not taken up. */
export const PI_PROTOCOL_VERSION = 'pi-rpc/1';

/** What a session can do, when its model is told of these tools: pi plans only with a tool that somebody adds to it. */
export function capabilitiesOf(tools: readonly string[]): NegotiatedCapabilities {
  return { ...ENGINE_CAPABILITIES.pi, plans: tools.includes(PLAN_TOOL) };
}

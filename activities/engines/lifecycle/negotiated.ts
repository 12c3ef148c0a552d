import { normalizeNegotiatedCapabilities, type NegotiatedCapabilities } from '../../../contract/capabilities.ts';

/** What the driver can use of an adapter. */
export const LIFECYCLE_CAPABILITIES = normalizeNegotiatedCapabilities({
  streamingText: true,
  reasoning: true,
  childSessions: true,
  approvals: true,
  questions: true,
  usage: true,
  resume: true,
  modelSelection: true,
  stop: true,
});

/** What every adapter of the contract has, whether it says so or not. */
const CONTRACTED = { streamingText: true, approvals: true, questions: true, stop: true };

/** What an adapter has: what it says, of what the driver can use. */
export function negotiated(declared: unknown): NegotiatedCapabilities {
  const said = normalizeNegotiatedCapabilities({ ...CONTRACTED, ...(declared as object | null | undefined) });
  const flags = Object.entries(LIFECYCLE_CAPABILITIES).map(([flag, isUsable]) => {
    return [flag, isUsable && said[flag as keyof NegotiatedCapabilities]];
  });
  return normalizeNegotiatedCapabilities(Object.fromEntries(flags));
}

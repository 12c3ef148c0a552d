import { faultText as safeFaultText } from '../fault-text.ts';

/** The program names the gateway that it asks for its model, behind its sentence. */
const GATEWAY = /\s*\((?:\[[\da-f:]+\]|[\w.-]+):\d{1,5}\)/gi;

/**
 * The program's own sentence of a failure.
 *
 * **Contract:** safe to show: one line, bounded, without an address and without what looks like a key.
 */
export function faultText(message: string): string {
  return safeFaultText(message.replace(GATEWAY, ''));
}

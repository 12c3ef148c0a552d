import { z } from 'zod';

/**
 * The 20 negotiated capability flags, in normalisation order (agent contract, "Negotiated capabilities").
 * A surface is shown because its flag is true, never because of an engine's name.
 */
export const CAPABILITY_FLAGS = [
  'streamingText',
  'reasoning',
  'plans',
  'toolProgress',
  'fileDiffs',
  'childSessions',
  'approvals',
  'questions',
  'usage',
  'modelSelection',
  'commands',
  'directTerminal',
  'resume',
  'load',
  'close',
  'stop',
  'reconcile',
  'desktop',
  'nativeEmbed',
  'knowledgeTools',
] as const;

export type CapabilityFlag = (typeof CAPABILITY_FLAGS)[number];

/** Every flag, always present. */
export const NegotiatedCapabilities = z.strictObject(
  Object.fromEntries(CAPABILITY_FLAGS.map((flag) => [flag, z.boolean()])) as Record<CapabilityFlag, z.ZodBoolean>,
);
export type NegotiatedCapabilities = Readonly<Record<CapabilityFlag, boolean>>;

/**
 * Reads a capability map from anything an engine may say.
 *
 * **Contract:** the result has every flag; a flag is true only if the raw value is exactly `true`; unknown keys are
 * dropped; null, undefined and non-objects give all false. Never throws.
 */
export function normalizeNegotiatedCapabilities(raw: unknown): NegotiatedCapabilities {
  const source = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
  const flags = CAPABILITY_FLAGS.map((flag) => [flag, Object.hasOwn(source, flag) && source[flag] === true]);
  return Object.fromEntries(flags) as NegotiatedCapabilities;
}

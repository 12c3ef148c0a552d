import { z } from 'zod';
import type { Provider } from './provider.ts';

const method = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', {
  error: ({ input }) => (input === undefined ? 'is missing: it must be a function' : 'must be a function'),
});
const word = z.string({
  error: ({ input }) => (input === undefined ? 'is missing: it must be a string' : 'must be a string'),
});

/** The fields of the register kind `provider`, each of them required (extension contracts, "Register kinds"). */
const FIELDS = {
  name: word.min(1, 'must not be empty'),
  api: word.min(1, 'must not be empty'),
  complete: method,
  convertMessages: method,
  convertTools: method,
  mapStopReason: method,
  parseResponse: method,
  buildBody: method,
} satisfies Record<keyof Provider, z.ZodType>;

const ProviderRecord = z.looseObject(FIELDS);

/**
 * The record as a provider.
 *
 * @throws Error that names every field which is missing or of the wrong type: the record is its author's mistake.
 */
export function providerOf(record: unknown): Provider {
  const parsed = ProviderRecord.safeParse(record);
  if (parsed.success) return record as Provider;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the record'} ${message}`);
  throw new Error(`this cannot be a provider: ${faults.join('; ')}`);
}

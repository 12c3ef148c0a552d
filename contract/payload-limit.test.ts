import { expect, it } from 'vitest';
import { TEMPORAL_PAYLOAD_LIMIT_BYTES } from './messages.ts';
import { assertSmall } from './payload-limit.ts';

it('lets 256 KiB into Temporal and refuses more, counted in bytes', () => {
  expect(() => assertSmall('x', 'a'.repeat(TEMPORAL_PAYLOAD_LIMIT_BYTES - 2))).not.toThrow();
  expect(() => assertSmall('x', 'a'.repeat(TEMPORAL_PAYLOAD_LIMIT_BYTES))).toThrow(/256|262144/);
  expect(() => assertSmall('x', '€'.repeat(100_000))).toThrow(/Postgres|bytes/);
  expect(() => assertSmall('x', undefined)).not.toThrow();
});

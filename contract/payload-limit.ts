import { TidemarkError } from './errors.ts';
import { utf8Bytes } from './frames.ts';
import { TEMPORAL_PAYLOAD_LIMIT_BYTES } from './messages.ts';

/**
 * Holds what is about to enter Temporal against the limit.
 *
 * @throws TidemarkError `payload_over_temporal_limit`: a fault of the code, since only ids are to be sent.
 */
export function assertSmall(what: string, value: unknown): void {
  const text = JSON.stringify(value) ?? '';
  if (text.length * 3 <= TEMPORAL_PAYLOAD_LIMIT_BYTES) return;
  const bytes = utf8Bytes(text);
  if (bytes <= TEMPORAL_PAYLOAD_LIMIT_BYTES) return;
  throw new TidemarkError(
    'payload_over_temporal_limit',
    `${what}: ${String(bytes)} bytes are over the ${String(TEMPORAL_PAYLOAD_LIMIT_BYTES)} that may enter Temporal`,
    'Keep the content in Postgres and send its id.',
  );
}

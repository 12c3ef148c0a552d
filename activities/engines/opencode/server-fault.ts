import { setTimeout as sleep } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';

/** A server that ends breaks its connections off a moment before it is gone. */
const GONE_WITHIN_MS = 1_000;

/** Why a request got no answer: the server has ended, or it is there and does not answer. */
export async function serverFault(
  cause: unknown,
  { name, gone }: { readonly name: string; readonly gone: Promise<TidemarkError> },
): Promise<TidemarkError> {
  if (cause instanceof TidemarkError) return cause;
  const fault = await Promise.race([gone, sleep(GONE_WITHIN_MS, null, { ref: false })]);
  if (fault !== null) return fault;
  return new TidemarkError(
    'engine_lost',
    `the server of ${name} broke a request off`,
    "Send the message again; the worker's log has what the engine wrote to standard error.",
    { cause },
  );
}

/** For an event that is no JSON. */
export function unreadableEvent(name: string): TidemarkError {
  return new TidemarkError(
    'engine_protocol_error',
    `${name} sent an event that cannot be read`,
    'The last frame of the run shows it. Install the version of the engine that docs/engines.md names.',
  );
}

import { Client, Connection } from '@temporalio/client';
import { TidemarkError } from '../../contract/errors.ts';
import type { Config } from '../config.ts';
import { smallPayloads } from './payload-limit.ts';

/** The address that is meant when none is configured. */
const DEFAULT_ADDRESS = 'localhost:7233';

/**
 * A client of the configured Temporal (TLS, API key and profile by Temporal's own environment configuration).
 *
 * @throws TidemarkError `unavailable`, with the address and what to do, when the server does not answer in time.
 */
export async function connectTemporal(config: Config): Promise<Client> {
  const { connectionOptions, namespace } = config.temporal;
  const address = connectionOptions.address ?? DEFAULT_ADDRESS;
  try {
    const connection = await Connection.connect({ connectTimeout: '10 seconds', ...connectionOptions, address });
    return new Client({ connection, namespace, interceptors: { workflow: [smallPayloads] } });
  } catch (cause) {
    throw new TidemarkError(
      'unavailable',
      `Temporal does not answer at ${address}`,
      'Start it, or set TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE, TEMPORAL_TLS, TEMPORAL_API_KEY) to one that runs.',
      { cause },
    );
  }
}

/** A client that connects at its first call: a gateway starts, and takes runs, while Temporal is down. */
export function lazyTemporal(config: Config): Client {
  const { connectionOptions, namespace } = config.temporal;
  const connection = Connection.lazy({
    connectTimeout: '3 seconds',
    ...connectionOptions,
    address: connectionOptions.address ?? DEFAULT_ADDRESS,
  });
  return new Client({ connection, namespace, interceptors: { workflow: [smallPayloads] } });
}

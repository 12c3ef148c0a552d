import type { Server } from 'node:http';
import { TidemarkError } from '../contract/errors.ts';
import type { Config } from '../infra/config.ts';

/**
 * Binds the configured address.
 *
 * @throws TidemarkError `unavailable`, saying which port is taken and what to do.
 */
export async function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const what =
        cause.code === 'EADDRINUSE' ? `port ${String(port)} is in use` : `${host}:${String(port)}: ${cause.message}`;
      reject(
        new TidemarkError('unavailable', what, 'Set TIDEMARK_PORT to a free port, or stop what uses it.', { cause }),
      );
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

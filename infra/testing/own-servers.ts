import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDatabase, startPostgres, type PostgresServer } from '../dev/embedded-postgres.ts';
import { freePort } from '../dev/ports.ts';
import { findTemporal } from '../dev/temporal-binary.ts';
import { startTemporal, type TemporalServer } from '../dev/temporal-dev-server.ts';

/** A PostgreSQL and a Temporal server of a test's own, which it may kill and start again with the same data and ports. */
export interface OwnServers {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  killPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  killTemporal(): Promise<void>;
  startTemporal(): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnServers(): Promise<OwnServers> {
  const dir = await mkdtemp(join(tmpdir(), 'tidemark-own-'));
  const ports = { postgres: await freePort(), temporal: await freePort() };
  const binary = await findTemporal(() => undefined);
  const bringPostgres = async (): Promise<PostgresServer> =>
    await startPostgres({ dir: join(dir, 'postgres'), port: ports.postgres, logFile: join(dir, 'postgres.log') });
  const bringTemporal = async (): Promise<TemporalServer> =>
    await startTemporal({
      binary,
      port: ports.temporal,
      uiPort: null,
      databaseFile: join(dir, 'temporal.db'),
      namespaces: [],
      logFile: join(dir, 'temporal.log'),
    });
  let [postgres, temporal] = await Promise.all([bringPostgres(), bringTemporal()]);
  return {
    databaseUrl: await ensureDatabase(postgres, 'tidemark'),
    temporalAddress: temporal.address,
    killPostgres: async () => await kill(postgres),
    startPostgres: async () => void (postgres = await bringPostgres()),
    killTemporal: async () => await kill(temporal),
    startTemporal: async () => void (temporal = await bringTemporal()),
    async stop() {
      await temporal.process.stop(5_000);
      await postgres.process.stop(5_000);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function kill({ process: server }: PostgresServer | TemporalServer): Promise<void> {
  server.kill('SIGKILL');
  await server.exited;
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assertSafeBinding, describeConfig, loadConfig, requireDatabaseUrl } from '../infra/config.ts';
import { Dispatcher } from '../infra/dispatcher.ts';
import { createLogger } from '../infra/log.ts';
import { openDatabase } from '../infra/postgres/open-database.ts';
import { runProcess } from '../infra/process.ts';
import { lazyTemporal } from '../infra/temporal/client.ts';
import { loadTidemarkConfig } from '../infra/tidemark-config.ts';
import { createApp } from './app.ts';
import type { Gateway } from './gateway.ts';
import { createHub } from './hub.ts';
import { listen } from './listen.ts';

/** Streams are closed over this time at a drain, so that their clients do not come back all at once. */
const DRAIN_MS = 3_000;

/** One gateway process (`npm run gateway`). It starts, and takes runs, while Temporal is down; the dispatcher catches up. */
await runProcess('gateway', async () => {
  const config = loadConfig();
  assertSafeBinding(config);
  const { engines } = await loadTidemarkConfig(config);
  const log = createLogger(config, 'gateway');
  log.info({ config: describeConfig(config) }, 'gateway starts');
  const databaseUrl = requireDatabaseUrl(config);
  const pool = await openDatabase(databaseUrl, { applicationName: 'tidemark-gateway', log });
  const temporal = lazyTemporal(config);
  const hub = createHub({ pool, databaseUrl, log, segmentCacheBytes: config.segmentCacheBytes });
  const gateway: Gateway = { config, engines, pool, log, temporal, hub, draining: false };
  const server = createServer(createApp(gateway));
  const dispatcher = new Dispatcher({ pool, temporal, log });
  await hub.start();
  await listen(server, config);
  dispatcher.start();
  const { port } = server.address() as AddressInfo;
  return {
    log,
    ready: { url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${String(port)}` },
    ended: new Promise((_resolve, reject) => server.on('error', reject)),
    async stop() {
      gateway.draining = true;
      const closed = new Promise((resolve) => server.close(resolve));
      await hub.drain(DRAIN_MS);
      server.closeIdleConnections();
      const rest = setTimeout(() => {
        server.closeAllConnections();
      }, 2_000);
      await closed;
      clearTimeout(rest);
      await Promise.all([dispatcher.stop(), hub.stop()]);
      await temporal.connection.close();
      await pool.end();
    },
  };
});

// `npm start`: PostgreSQL and Temporal (unless they are given), the migrations, a worker and a gateway; until Ctrl-C.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assertSafeBinding, ConfigError, loadConfig, type Config } from '../config.ts';
import { MigrationError } from '../postgres/migrate.ts';
import { banner } from './banner.ts';
import { provideDatabase } from './database.ts';
import { Fleet } from './fleet.ts';
import { takeLock } from '../lock.mjs';
import { portProblem } from './ports.ts';
import { startServices } from './services.ts';
import { StartError } from './start-error.ts';
import { provideTemporal } from './temporal.ts';
import { readUrls, removeUrls, writeUrls } from './urls-file.ts';
import { cachedWorkflowBundle } from './workflow-bundle.ts';

/** As long as an orderly stop may take. */
const LOCK_WITHIN_MS = 30_000;

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
process.on('disconnect', () => stop.abort()); // the launcher is gone

try {
  const config = loadConfig();
  assertSafeBinding(config);
  await up(config, stop.signal);
} catch (error) {
  if (!(error instanceof StartError || error instanceof ConfigError || error instanceof MigrationError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  if (process.connected) process.disconnect?.();
}

async function up(config: Config, signal: AbortSignal): Promise<void> {
  mkdirSync(config.home, { recursive: true });
  const lock = await lockHome(config.home);
  const fleet = new Fleet(config.home, (line) => console.log(line), signal);
  try {
    await fleet.takeOver();
    await assertGatewayPort(config);
    await startAll(config, fleet);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    console.log('Stopping.');
    removeUrls(config.home);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await fleet.stop();
    removeUrls(config.home);
    lock.release();
  }
}

async function startAll(config: Config, fleet: Fleet): Promise<void> {
  const parts = [provideDatabase(config, fleet), provideTemporal(config, fleet), provideBundle(config, fleet)] as const;
  await fleet.together(parts);
  const [databaseUrl, temporal, workflowBundle] = await Promise.all(parts);
  const gateway = await startServices(config, { databaseUrl, temporal, workflowBundle }, fleet);
  const note = () => {
    const places = {
      gateway,
      temporal_ui: temporal.uiUrl ?? null,
      temporal_address: temporal.address,
      database_url: databaseUrl,
    };
    const urls = { ...places, pids: fleet.pids() };
    writeUrls(config.home, urls);
    return urls;
  };
  fleet.onStarted = note;
  console.log(banner(config, note()));
}

/** A worker that is given no bundle builds its own, and says what is wrong if that fails as well. */
async function provideBundle(config: Config, fleet: Fleet): Promise<string | undefined> {
  return config.workflowBundlePath ?? (await cachedWorkflowBundle(fleet.signal).catch(() => undefined));
}

async function assertGatewayPort({ host, port }: Config): Promise<void> {
  const problem = port === 0 ? null : await portProblem(port, host);
  if (problem === null) return;
  const why =
    problem === 'EADDRINUSE' ? `port ${port} of ${host} is in use` : `${host}:${port} cannot be used (${problem})`;
  throw new StartError(
    `The gateway cannot start: ${why}. Stop what uses it, or choose another with TIDEMARK_PORT=4311 npm start.`,
  );
}

/** Waits for a start that has no URLs: it is about to have some, or is stopping. */
async function lockHome(home: string): Promise<{ release: () => void }> {
  for (const giveUpAt = Date.now() + LOCK_WITHIN_MS; ;) {
    const lock = await takeLock(join(home, 'up.lock'), { waitMs: 500 });
    if ('release' in lock) return lock;
    if (readUrls(home) !== null || Date.now() > giveUpAt) throw alreadyRunning(home, lock.heldBy);
  }
}

function alreadyRunning(home: string, pid: number): StartError {
  const gateway = readUrls(home)?.gateway ?? 'starting';
  return new StartError(
    `Tidemark is already running on ${home} (process ${pid}, ${gateway}). ` +
      'Stop that one, or give this one its own TIDEMARK_HOME and TIDEMARK_PORT.',
  );
}

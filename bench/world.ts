import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inheritedEnv } from '../infra/config.ts';
import { childOutput } from '../infra/dev/child-output.ts';
import { ensureDatabase, startPostgres, type PostgresServer } from '../infra/dev/embedded-postgres.ts';
import { logFile } from '../infra/dev/log-files.ts';
import { startNodeChild } from '../infra/dev/node-child.ts';
import { freePort } from '../infra/dev/ports.ts';
import { findTemporal } from '../infra/dev/temporal-binary.ts';
import { startTemporal } from '../infra/dev/temporal-dev-server.ts';
import { cachedWorkflowBundle } from '../infra/dev/workflow-bundle.ts';
import { migrate } from '../infra/postgres/migrate.ts';
import { createPool, type Pool } from '../infra/postgres/pool.ts';
import { BenchProcess } from './bench-process.ts';

export interface Database {
  readonly url: string;
  readonly pool: Pool;
}

type Stop = () => Promise<unknown>;

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 20_000;

/**
 * The servers and processes of one bench, all its own: PostgreSQL with its default durability, a Temporal dev server on
 * disk, real gateways and workers, in a temporary folder and on free ports.
 *
 * **Contract:** servers start when they are first asked for. `stop` ends everything that was started, newest first, and
 * removes the folder; it is safe to call at any time.
 */
export class World {
  readonly home: string;
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #servers: Stop[] = [];
  readonly #scoped: Stop[] = [];
  #postgres: Promise<PostgresServer> | null = null;
  #temporal: Promise<string> | null = null;
  #temporalBinary = '';

  private constructor(home: string, say: (line: string) => void, signal: AbortSignal) {
    this.home = home;
    this.#say = say;
    this.#signal = signal;
  }

  static async create(say: (line: string) => void, signal: AbortSignal): Promise<World> {
    const home = await mkdtemp(join(tmpdir(), 'tidemark-bench-'));
    return new World(home, say, signal);
  }

  get temporalBinary(): string {
    return this.#temporalBinary;
  }

  /** A fresh database with the schema. */
  async database(name: string): Promise<Database> {
    this.#postgres ??= this.#startPostgres();
    const url = await ensureDatabase(await this.#postgres, name.replaceAll('-', '_'));
    const pool = createPool(url, { max: 4, applicationName: 'tidemark-bench' });
    this.onStop(() => pool.end());
    await migrate(pool);
    return { url, pool };
  }

  /** The address of the Temporal dev server. */
  async temporal(): Promise<string> {
    this.#temporal ??= this.#startTemporal();
    return await this.#temporal;
  }

  /** A real gateway. Without a Temporal it serves what is stored. */
  async gateway(database: Database, env: Record<string, string> = {}): Promise<BenchProcess> {
    return await this.process('api/server.ts', { DATABASE_URL: database.url, TIDEMARK_PORT: '0', ...env });
  }

  async worker(database: Database, env: Record<string, string> = {}): Promise<BenchProcess> {
    const bundle = await cachedWorkflowBundle(this.#signal);
    return await this.process('activities/worker.ts', {
      DATABASE_URL: database.url,
      TIDEMARK_WORKFLOW_BUNDLE: bundle,
      ...env,
    });
  }

  /** A TypeScript file of this repository as a process of its own, once it is ready. */
  async process(entry: string, env: Record<string, string> = {}): Promise<BenchProcess> {
    const home = join(this.home, 'processes');
    await mkdir(home, { recursive: true });
    const onLine = childOutput(entry, logFile(this.home, entry.replaceAll(/\W+/g, '-')), this.#say);
    const settings = { ...ONLY_OURS, TIDEMARK_HOME: home, ...env };
    const options = { env: inheritedEnv(settings), readyWithinMs: READY_WITHIN_MS, onLine };
    const started = new BenchProcess(await startNodeChild(entry, options, this.#signal));
    this.onStop(() => started.stop());
    return started;
  }

  onStop(stop: Stop): void {
    this.#scoped.push(stop);
  }

  /** Runs a benchmark and ends what it started, so that nothing of it runs beside the next; the servers stay up. */
  async scope(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } finally {
      await this.#end(this.#scoped);
    }
  }

  async stop(): Promise<void> {
    await this.#end(this.#scoped);
    await this.#end(this.#servers);
    await rm(this.home, { recursive: true, force: true });
  }

  /** Newest first. */
  async #end(stops: Stop[]): Promise<void> {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
      await stop().catch((error: unknown) => this.#say(`not stopped cleanly: ${String(error)}`));
    }
  }

  async #startPostgres(): Promise<PostgresServer> {
    const options = {
      dir: join(this.home, 'postgres'),
      port: await freePort(),
      logFile: logFile(this.home, 'postgres'),
    };
    const server = await startPostgres(options, this.#signal);
    this.#servers.push(() => server.process.stop(STOP_WITHIN_MS));
    return server;
  }

  async #startTemporal(): Promise<string> {
    this.#temporalBinary = await findTemporal(this.#say, this.#signal);
    const server = await startTemporal(
      {
        binary: this.#temporalBinary,
        port: await freePort(),
        uiPort: null,
        databaseFile: join(this.home, 'temporal.db'),
        namespaces: [],
        logFile: logFile(this.home, 'temporal'),
      },
      this.#signal,
    );
    this.#servers.push(() => server.process.stop(STOP_WITHIN_MS));
    return server.address;
  }
}

/** Settings of the person who runs the bench must not reach its processes. */
const ONLY_OURS = {
  TIDEMARK_HOST: undefined,
  TIDEMARK_API_KEYS: undefined,
  TIDEMARK_MODEL: undefined,
  TIDEMARK_WORKSPACES: undefined,
  TIDEMARK_ENGINE_SLOTS: undefined,
  TIDEMARK_CONTROL_SLOTS: undefined,
  TIDEMARK_LOG_LEVEL: undefined,
  TIDEMARK_BUILD_ID: undefined,
  TIDEMARK_WORKFLOW_BUNDLE: undefined,
  TIDEMARK_SEGMENT_CACHE_BYTES: undefined,
  OPENAI_API_KEY: undefined,
  OPENAI_BASE_URL: undefined,
  ANTHROPIC_API_KEY: undefined,
  DATABASE_URL: undefined,
  TEMPORAL_ADDRESS: undefined,
  TEMPORAL_NAMESPACE: undefined,
} as const;

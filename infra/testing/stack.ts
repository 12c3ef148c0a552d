import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { inheritedEnv } from '../config.ts';
import { startNodeChild, type NodeChild } from '../dev/node-child.ts';
import { createPool, type Pool } from '../postgres/pool.ts';
import { createTestDatabase } from './database.ts';
import { takeNamespace } from './namespaces.ts';
import type { OwnServers } from './own-servers.ts';

/** A gateway or worker process of a stack. */
export interface StackProcess {
  readonly pid: number;
  readonly url: string;
  /** How it ended: a signal's name or `exit code N`. */
  readonly exited: Promise<string>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** SIGTERM, and the code that it ended with. */
  end(): Promise<string>;
}

export interface Stack {
  /** The first gateway's. */
  readonly url: string;
  readonly urls: readonly string[];
  readonly databaseUrl: string;
  /** The tests' own look into the database. */
  readonly pool: Pool;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly home: string;
  readonly gateways: StackProcess[];
  readonly workers: StackProcess[];
  /** `more` is the environment of this one process. */
  startGateway(port?: number, more?: Readonly<Record<string, string>>): Promise<StackProcess>;
  startWorker(more?: Readonly<Record<string, string>>): Promise<StackProcess>;
  /** All that the processes have written. */
  logs(): string;
  stop(): Promise<void>;
}

export interface StackOptions {
  readonly gateways?: number;
  readonly workers?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the servers that all files share. */
  readonly servers?: OwnServers;
}

const READY_WITHIN_MS = 40_000;

const running = new Set<Stack>();
const known: Stack[] = [];

/** The end of what the stacks of this test file have written, for a test that failed. */
export function lastLogs(lines: number): string {
  return known.map((stack) => stack.logs().split('\n').slice(-lines).join('\n')).join('\n--\n');
}

/** Stops what a test file has forgotten to stop, and says how many stacks that were. */
export async function stopForgotten(): Promise<number> {
  const forgotten = [...running];
  await Promise.all(forgotten.map(async (stack) => await stack.stop()));
  return forgotten.length;
}

/** Real gateway and worker processes on a database and a namespace of their own. */
export async function startStack({ gateways = 1, workers = 1, env = {}, servers }: StackOptions = {}): Promise<Stack> {
  const database = servers === undefined ? await createTestDatabase() : null;
  const databaseUrl = servers?.databaseUrl ?? database?.url ?? '';
  const namespace = servers === undefined ? await takeNamespace() : 'default';
  const temporalAddress = servers?.temporalAddress ?? inject('temporalAddress');
  const home = await mkdtemp(join(inject('scratch'), 'home-'));
  await mkdir(join(home, 'workspaces'));
  const pool = database?.pool ?? createPool(databaseUrl, { max: 5, applicationName: 'tidemark-test' });
  const lines: string[] = [];

  const start = async (entry: string, more: Record<string, string>): Promise<StackProcess> => {
    const child = await startNodeChild(entry, {
      env: inheritedEnv({
        OPENAI_API_KEY: undefined,
        OPENAI_BASE_URL: undefined,
        ANTHROPIC_API_KEY: undefined,
        ANTHROPIC_BASE_URL: undefined,
        DATABASE_URL: databaseUrl,
        TEMPORAL_ADDRESS: temporalAddress,
        TEMPORAL_NAMESPACE: namespace,
        TIDEMARK_HOME: home,
        TIDEMARK_WORKFLOW_BUNDLE: inject('workflowBundlePath'),
        ...env,
        ...more,
      }),
      readyWithinMs: READY_WITHIN_MS,
      onLine: (line) => lines.push(line),
    });
    return stackProcess(child);
  };
  const stack: Stack = {
    get url() {
      return stack.urls[0] ?? '';
    },
    get urls() {
      return stack.gateways.map(({ url }) => url);
    },
    databaseUrl,
    pool,
    temporalAddress,
    namespace,
    home,
    gateways: [],
    workers: [],
    async startGateway(port = 0, more = {}) {
      const gateway = await start('api/server.ts', { TIDEMARK_PORT: String(port), ...more });
      stack.gateways.push(gateway);
      return gateway;
    },
    async startWorker(more = {}) {
      const worker = await start('activities/worker.ts', more);
      stack.workers.push(worker);
      return worker;
    },
    logs: () => lines.join('\n'),
    async stop() {
      running.delete(stack);
      await Promise.all([...stack.gateways, ...stack.workers].map(async (child) => await child.kill('SIGKILL')));
      if (database === null) await pool.end();
      else await database.drop();
    },
  };
  running.add(stack);
  known.push(stack);
  try {
    await Promise.all([
      ...Array.from({ length: gateways }, () => stack.startGateway()),
      ...Array.from({ length: workers }, () => stack.startWorker()),
    ]);
  } catch (error) {
    await stack.stop();
    throw new Error(`the stack did not start; it wrote:\n${lines.slice(-30).join('\n')}`, { cause: error });
  }
  return stack;
}

function stackProcess({ process: child, url }: NodeChild): StackProcess {
  return {
    pid: child.pid,
    url: url ?? '',
    exited: child.exited,
    async kill(signal) {
      child.kill(signal);
      if (signal === 'SIGKILL') await child.exited;
    },
    async end() {
      child.kill('SIGTERM');
      return await child.exited;
    },
  };
}

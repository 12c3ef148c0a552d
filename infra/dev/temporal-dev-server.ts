import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { inheritedEnv } from '../config.ts';
import { SEARCH_ATTRIBUTE } from '../../contract/messages.ts';
import { DetachedProcess } from './detached-process.ts';
import { lastLines } from './log-files.ts';
import { StartError } from './start-error.ts';

const READY_WITHIN_MS = 30_000;

export type TemporalOptions = {
  /** The CLI: a path, or a name on the PATH. */
  readonly binary: string;
  readonly port: number;
  /** `null`: without the web UI. */
  readonly uiPort: number | null;
  /** `null`: in memory. */
  readonly databaseFile: string | null;
  /** Made at the start, beside `default`. */
  readonly namespaces: readonly string[];
  readonly logFile: string;
};

export type TemporalServer = { readonly process: DetachedProcess; readonly address: string };

/** It takes ports for its own parts that others may take first; then it ends at once, and finds others the next time. */
const TRIES = 3;

/**
 * Starts the dev server of the Temporal CLI on this machine's loopback address, with the search attributes that runs carry.
 * Returns when it answers; one that ends before that is started again, twice. It is not in the terminal's process group.
 */
export async function startTemporal(options: TemporalOptions, signal?: AbortSignal): Promise<TemporalServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options, signal);
    } catch (error) {
      if (!(error instanceof EndedEarly) || attempt === TRIES) throw error;
    }
  }
}

class EndedEarly extends StartError {}

async function startOnce(options: TemporalOptions, signal: AbortSignal | undefined): Promise<TemporalServer> {
  const address = `127.0.0.1:${options.port}`;
  const log = openSync(options.logFile, 'a', 0o600);
  let server: DetachedProcess;
  try {
    server = await DetachedProcess.start(options.binary, argumentsFor(options), {
      env: inheritedEnv({}),
      stdio: ['ignore', log, log],
      stopSignal: 'SIGTERM',
    });
  } finally {
    closeSync(log);
  }
  try {
    await untilReady(server, options, signal);
  } catch (error) {
    await server.stop(5_000);
    throw error;
  }
  return { process: server, address };
}

function argumentsFor({ port, uiPort, databaseFile, namespaces }: TemporalOptions): string[] {
  const command = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'];
  return [
    ...command,
    ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(databaseFile === null ? [] : ['--db-filename', databaseFile]),
    ...namespaces.flatMap((name) => ['--namespace', name]),
    ...Object.values(SEARCH_ATTRIBUTE).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

async function untilReady(
  server: DetachedProcess,
  { port, namespaces, logFile }: TemporalOptions,
  signal?: AbortSignal,
): Promise<void> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  const namespace = namespaces.at(-1) ?? 'default';
  for (;;) {
    signal?.throwIfAborted();
    if (server.hasExited()) {
      const end = await server.exited;
      throw new EndedEarly(
        `The Temporal dev server did not start (${end}). Its log, ${logFile}, ends:\n${lastLines(logFile, 3)}`,
      );
    }
    try {
      await assertListening(port); // a gRPC client that is refused waits a second before it tries again
      await assertNamespace({ address: `127.0.0.1:${port}` }, namespace, 1_000);
      return;
    } catch (error) {
      if (Date.now() > giveUpAt) {
        throw new StartError(`The Temporal dev server runs but does not answer. Its log is ${logFile}.`, {
          cause: error,
        });
      }
    }
    await sleep(25);
  }
}

function assertListening(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}

type ConnectionOptions = Parameters<typeof Connection.connect>[0];

/** Asks a server for a namespace and throws what it, or the connection, says. */
export async function assertNamespace(options: ConnectionOptions, namespace: string, timeoutMs: number): Promise<void> {
  const connection = await Connection.connect({ ...options, connectTimeout: timeoutMs });
  try {
    await connection.withDeadline(Date.now() + timeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } finally {
    await connection.close();
  }
}

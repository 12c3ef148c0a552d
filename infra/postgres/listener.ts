import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import type { Logger } from '../log.ts';

export interface ListenerOptions {
  readonly databaseUrl: string;
  readonly channels: readonly string[];
  readonly onNotify: (channel: string, payload: string) => void;
  /** After every connect and reconnect: what was sent in between is gone, so look for yourself. */
  readonly onConnect: () => void;
  readonly log: Logger;
  readonly watchdog?: { readonly everyMs: number; readonly limitMs: number };
}

/** A process's one LISTEN connection. */
export interface Listener {
  /** Resolves when it listens, or when the first attempt failed and it goes on trying. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** How often an established connection was lost. */
  lostCount(): number;
}

const BACKOFF_MS = { first: 100, most: 5_000 };

/**
 * Listens on channels for as long as the process lives.
 *
 * **Contract:** a connection that breaks, or that answers nothing in time (a network path that is gone sends no FIN), is
 * replaced with backoff; each loss is one log line and counted. NOTIFY keeps no backlog: a notification is a hint, and
 * the owner also looks by itself now and then.
 */
export function createListener(options: ListenerOptions): Listener {
  const { log, watchdog = { everyMs: 5_000, limitMs: 3_000 } } = options;
  const stopping = new AbortController();
  const firstAttempt = Promise.withResolvers<void>();
  let lost = 0;
  let running: Promise<void> | null = null;

  const run = async (): Promise<void> => {
    let backoffMs = BACKOFF_MS.first;
    while (!stopping.signal.aborted) {
      let listening = false;
      const onListening = (): void => {
        listening = true;
        backoffMs = BACKOFF_MS.first;
        firstAttempt.resolve();
        options.onConnect();
      };
      try {
        await listenUntilLost({ ...options, watchdog }, onListening, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) break;
        if (listening) lost += 1;
        log.warn(
          { err: error, channels: options.channels, backoffMs },
          listening ? 'listen connection lost' : 'listen connection refused',
        );
      }
      firstAttempt.resolve();
      await sleep(backoffMs * (0.5 + Math.random() / 2), undefined, { signal: stopping.signal }).catch(() => {});
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.most);
    }
  };

  return {
    start: () => {
      running ??= run();
      return firstAttempt.promise;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
    lostCount: () => lost,
  };
}

type Session = ListenerOptions & { readonly watchdog: { readonly everyMs: number; readonly limitMs: number } };

/** One connection's life: throws how it was lost, returns when it was told to stop. */
async function listenUntilLost(session: Session, onListening: () => void, stopping: AbortSignal): Promise<void> {
  const { everyMs, limitMs } = session.watchdog;
  const socket = new Socket();
  const client = new Client({
    connectionString: session.databaseUrl,
    application_name: 'tidemark-listener',
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    stream: () => socket,
  });
  const loss = new AbortController();
  client.on('error', (error) => loss.abort(error));
  client.on('end', () => loss.abort(new Error('the server ended the connection')));
  client.on('notification', ({ channel, payload }) => session.onNotify(channel, payload ?? ''));
  const over = AbortSignal.any([stopping, loss.signal]);
  try {
    await client.connect();
    for (const channel of session.channels) await client.query(`listen ${escapeIdentifier(channel)}`);
    onListening();
    for (;;) {
      await sleep(everyMs, undefined, { signal: over });
      await client.query('select 1');
    }
  } catch (error) {
    if (stopping.aborted) return;
    throw loss.signal.aborted ? loss.signal.reason : error;
  } finally {
    // a path that is gone never answers a farewell, so the socket is cut in any case
    await Promise.race([client.end().catch(() => {}), sleep(200)]);
    socket.destroy();
  }
}

import { EXTENSION_CALL_LIMIT_MS } from '../../contract/extension-call.ts';
import { followThread, type FollowOptions } from './follow-thread.ts';
import { everyItem } from './pages.ts';
import { ActionOutcome, pageOf, Panel, Session, StatusItem, Thread } from './resources.ts';
import type { Delivery, ThreadItem } from './thread-item.ts';
import { storedDeliveries, type StoredQuery } from './thread-page.ts';
import { pathOf, type Abortable, type Transport } from './transport.ts';

/** So long until the gateway says that the worker of a call is lost. */
const LOST_WORKER_MS = 45_000;

/** Threads: read, follow, erase; and what the built-in engine's extensions add to one. */
export class Threads {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async get(threadId: string, { signal }: Abortable = {}): Promise<Thread> {
    return await this.#transport.json(Thread, { method: 'GET', path: pathOf`/v1/threads/${threadId}`, signal });
  }

  list({ signal }: Abortable = {}): AsyncGenerator<Thread, void, undefined> {
    return everyItem(this.#transport, Thread, { path: '/v1/threads', signal });
  }

  /** Everything after a cursor, then what comes: see `followThread`. */
  follow(threadId: string, options: FollowOptions = {}): AsyncGenerator<ThreadItem, void, undefined> {
    return followThread(this.#transport, threadId, options);
  }

  /** What the log holds at this moment. */
  deliveries(threadId: string, query: StoredQuery = {}): AsyncGenerator<Delivery, void, undefined> {
    return storedDeliveries(this.#transport, threadId, query);
  }

  /** The session with an engine: the one used last, or the named one. */
  async session(threadId: string, { engine, signal }: Abortable & { readonly engine?: string } = {}): Promise<Session> {
    const path = pathOf`/v1/threads/${threadId}/session`;
    return await this.#transport.json(Session, { method: 'GET', path, query: { engine }, signal });
  }

  /** `gone` at once, or `erasing` until its runs have ended. */
  async erase(
    threadId: string,
    { cancel, signal }: Abortable & { readonly cancel?: boolean } = {},
  ): Promise<'gone' | 'erasing'> {
    const query = { cancel: cancel === true ? 1 : undefined };
    const request = { method: 'DELETE', path: pathOf`/v1/threads/${threadId}`, query, signal } as const;
    return await this.#transport.read(request, async ({ status }) => (status === 204 ? 'gone' : 'erasing'));
  }

  /** Runs a command of an extension: `/name args`. Sent once: a command may do anything. */
  async command(threadId: string, name: string, args: string, { signal }: Abortable = {}): Promise<ActionOutcome> {
    const path = pathOf`/v1/threads/${threadId}/commands/${name}`;
    const waitMs = EXTENSION_CALL_LIMIT_MS.command + LOST_WORKER_MS;
    const request = { method: 'POST', path, body: { args }, signal, waitMs, isRepeatable: false } as const;
    return await this.#transport.json(ActionOutcome, request);
  }

  async control(threadId: string, name: string, { signal }: Abortable = {}): Promise<ActionOutcome> {
    const path = pathOf`/v1/threads/${threadId}/controls/${name}`;
    const waitMs = EXTENSION_CALL_LIMIT_MS.control + LOST_WORKER_MS;
    return await this.#transport.json(ActionOutcome, { method: 'POST', path, signal, waitMs, isRepeatable: false });
  }

  async panels(threadId: string, { signal }: Abortable = {}): Promise<Panel[]> {
    const path = pathOf`/v1/threads/${threadId}/panels`;
    const request = { method: 'GET', path, signal, waitMs: EXTENSION_CALL_LIMIT_MS.panels + LOST_WORKER_MS } as const;
    return (await this.#transport.json(pageOf(Panel), request)).data;
  }

  async status(threadId: string, { signal }: Abortable = {}): Promise<StatusItem[]> {
    const path = pathOf`/v1/threads/${threadId}/status`;
    const request = { method: 'GET', path, signal, waitMs: EXTENSION_CALL_LIMIT_MS.status + LOST_WORKER_MS } as const;
    return (await this.#transport.json(pageOf(StatusItem), request)).data;
  }
}

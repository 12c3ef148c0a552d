import type { Message } from '../../../../contract/agent-messages.ts';
import { TidemarkError } from '../../../../contract/errors.ts';
import { planTurns } from '../../../../contract/session-import.ts';
import { newId } from '../../../../infra/ids.ts';
import { importSession } from '../../../../infra/postgres/import-session.ts';
import { conversationOf } from '../../../../infra/postgres/conversation.ts';
import type { Pool } from '../../../../infra/postgres/pool.ts';
import { findRunOfTenant, latestRun } from '../../../../infra/postgres/run.ts';
import {
  beginSessionThread,
  listSessions,
  sessionsByPrefix,
  type ListedSession,
} from '../../../../infra/postgres/session-list.ts';
import { threadOfTenant } from '../../../../infra/postgres/thread.ts';
import { LIST_LIMIT } from './session-backend.ts';
import type {
  FindSessions,
  ListSessions,
  OpenSession,
  Session,
  SessionBackend,
  SessionInfo,
  SessionScope,
} from './session-backend.ts';
import { findByTarget, noSuchSession } from './session-target.ts';

/** What of an open session is not stored yet: the turn that goes on. */
interface OpenThread {
  readonly tenantId: string;
  readonly threadId: string;
  /** The thread begins with its first turn; one that was there and is erased meanwhile does not come back. */
  isNew: boolean;
  /** The run that the next turn follows; null: whichever is the newest then. */
  parentRunId: string | null;
  turn: Message[];
  last: Promise<void>;
}

/**
 * Sessions as threads: a thread's conversation is the line of its newest run. A path is the thread's id, or a run's for the line that
 * leads to that one.
 *
 * **Contract:** a turn is stored whole, as a settled run, when the next begins or the session is closed: what a crash loses is the
 * turn that went on. Sessions are found in one tenant.
 */
export class PostgresSessions implements SessionBackend {
  readonly name = 'postgres';
  readonly #pool: Pool;
  readonly #model: string;
  readonly #open = new WeakMap<Session, OpenThread>();

  /** `model` is for turns that do not say whose they are. */
  constructor({ pool, model }: { pool: Pool; model: string }) {
    this.#pool = pool;
    this.#model = model;
  }

  async open({ threadId, ...scope }: OpenSession): Promise<Session> {
    const tenantId = tenantOf(scope);
    if (threadId !== undefined) return await this.openExisting(threadId, scope);
    return await Promise.resolve(this.#opened({ tenantId, threadId: newId('thread'), isNew: true, parentRunId: null }));
  }

  async openExisting(path: string, scope: SessionScope): Promise<Session> {
    const tenantId = tenantOf(scope);
    const { threadId, runId } = await this.#place(path, tenantId);
    return this.#opened({ tenantId, threadId, isNew: false, parentRunId: path === threadId ? null : runId });
  }

  async append(session: Session, message: Message): Promise<void> {
    const open = this.#open.get(session);
    if (open === undefined) throw new Error(`session ${session.id} is not open`);
    await inOrder(open, async () => {
      if (message.role === 'user') await this.#store(open);
      const turn = [...open.turn, message];
      planned(turn);
      open.turn = turn;
    });
  }

  async close(session: Session): Promise<void> {
    const open = this.#open.get(session);
    this.#open.delete(session);
    if (open !== undefined) await inOrder(open, async () => await this.#store(open));
  }

  async load(path: string, scope: SessionScope): Promise<Message[]> {
    const { runId } = await this.#place(path, tenantOf(scope));
    return runId === null ? [] : await conversationOf(this.#pool, runId);
  }

  async find({ target, limit = LIST_LIMIT.usual, ...scope }: FindSessions): Promise<SessionInfo[]> {
    const tenantId = tenantOf(scope);
    const lookup = {
      page: async (from: number, count: number) =>
        (await listSessions(this.#pool, { tenantId, from, limit: count })).map(infoOf),
      byPath: async (path: string) => {
        const thread = await threadOfTenant(this.#pool, tenantId, path);
        return thread === null ? null : infoOf(thread);
      },
      byPrefix: async (prefix: string, count: number) =>
        (await sessionsByPrefix(this.#pool, { tenantId, prefix, limit: count })).map(infoOf),
    };
    return await findByTarget(lookup, { target, limit: Math.min(limit, LIST_LIMIT.most) });
  }

  async list(opts: ListSessions): Promise<SessionInfo[]> {
    return await this.find(opts);
  }

  async latest(scope: SessionScope): Promise<SessionInfo | null> {
    return (await this.find({ ...scope, target: 'latest' }))[0] ?? null;
  }

  #opened(open: Omit<OpenThread, 'turn' | 'last'>): Session {
    const session = { id: open.threadId, path: open.threadId };
    this.#open.set(session, { ...open, turn: [], last: Promise.resolve() });
    return session;
  }

  async #store(open: OpenThread): Promise<void> {
    if (open.turn.length === 0) return;
    const { tenantId, threadId, parentRunId } = open;
    if (open.isNew) await beginSessionThread(this.#pool, threadId, tenantId);
    open.isNew = false;
    const turns = planned(open.turn);
    const idempotency = null;
    const stored = await importSession(this.#pool, {
      tenantId,
      threadId,
      parentRunId,
      turns,
      model: this.#model,
      idempotency,
    });
    if (parentRunId !== null) open.parentRunId = stored.runIds.at(-1) ?? parentRunId;
    open.turn = [];
  }

  async #place(path: string, tenantId: string): Promise<{ threadId: string; runId: string | null }> {
    const run = await findRunOfTenant(this.#pool, tenantId, path);
    if (run !== null) return { threadId: run.thread_id, runId: run.run_id };
    const thread = await threadOfTenant(this.#pool, tenantId, path);
    if (thread === null) throw noSuchSession();
    return { threadId: thread.thread_id, runId: (await latestRun(this.#pool, thread.thread_id))?.run_id ?? null };
  }
}

/** In the order of the calls; what failed does not keep the next from being tried. */
async function inOrder(open: OpenThread, work: () => Promise<void>): Promise<void> {
  const mine = open.last.then(work);
  open.last = mine.catch(() => undefined);
  await mine;
}

function planned(messages: readonly Message[]) {
  const plan = planTurns(messages);
  if (plan.ok) return plan.turns;
  const { reason, detail } = plan.problem;
  const remedy = 'Append a user’s message first, and each result behind its call.';
  throw new TidemarkError('session_malformed', `the message cannot follow those before it: ${detail}`, remedy, {
    facts: { reason },
  });
}

function infoOf({ thread_id: id, created_at: createdAt }: ListedSession): SessionInfo {
  return { id, path: id, createdAt: createdAt.toISOString() };
}

function tenantOf({ tenantId }: SessionScope): string {
  if (tenantId === undefined) throw new Error('sessions in PostgreSQL are a tenant’s: give tenantId');
  return tenantId;
}

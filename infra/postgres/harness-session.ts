import type { NegotiatedCapabilities } from '../../contract/capabilities.ts';
import { TidemarkError } from '../../contract/errors.ts';
import type { Queryable } from './transaction.ts';

/** `pending`: a turn is under way in it. `uncertain`: a turn ended and nobody knows what of it the engine keeps. */
export type Durability = 'pending' | 'committed' | 'uncertain' | 'failed';

/** A thread's session with one engine (agent contract, "Durable sessions and commands"). */
export interface SessionRow {
  readonly thread_id: string;
  readonly engine: string;
  readonly provider: string;
  /** What the newest generation works in; null until the engine has named it. */
  readonly native_session_id: string | null;
  readonly runtime_kind: 'sandbox' | 'managed';
  /** Where the engine keeps its side of the session. */
  readonly runtime_id: string;
  readonly protocol_version: string;
  readonly capabilities: NegotiatedCapabilities;
  /** Grows with every new engine process. */
  readonly generation: number;
  /** Grows with every commit. */
  readonly revision: number;
  readonly head_native_session_id: string | null;
  readonly head_ref: string | null;
  readonly durability: Durability;
  /** The run that used it last. */
  readonly run_id: string;
  readonly updated_at: Date;
}

export interface SessionBinding {
  readonly threadId: string;
  readonly engine: string;
  readonly provider: string;
  /** Null: the engine names it when it is given the turn. */
  readonly nativeSessionId: string | null;
  readonly runtime: { readonly kind: SessionRow['runtime_kind']; readonly id: string };
  readonly protocolVersion: string;
  readonly capabilities: NegotiatedCapabilities;
  readonly runId: string;
}

export async function findSession(db: Queryable, threadId: string, engine: string): Promise<SessionRow | null> {
  const { rows } = await db.query<SessionRow>({
    name: 'session-find',
    text: 'select * from session where thread_id = $1 and engine = $2',
    values: [threadId, engine],
  });
  return rows[0] ?? null;
}

/** A thread's sessions, the last used first. */
export async function sessionsOfThread(db: Queryable, threadId: string): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>({
    name: 'session-of-thread',
    text: 'select * from session where thread_id = $1 order by updated_at desc, engine',
    values: [threadId],
  });
  return rows;
}

/** The session that a run used, or null. */
export async function sessionOfRun(db: Queryable, runId: string): Promise<SessionRow | null> {
  const { rows } = await db.query<SessionRow>({
    name: 'session-of-run',
    text: `select s.* from session s join run r on r.thread_id = s.thread_id and r.engine = s.engine
            where r.run_id = $1 and s.run_id = $1`,
    values: [runId],
  });
  return rows[0] ?? null;
}

/**
 * Begins a generation: a new engine process works in the session from now on. Runs under the thread's lock.
 *
 * @returns its number, which the process must show to commit anything.
 */
export async function beginGeneration(client: Queryable, binding: SessionBinding): Promise<number> {
  const { threadId, engine, provider, nativeSessionId, runtime, protocolVersion, capabilities, runId } = binding;
  const { rows } = await client.query<{ generation: number }>({
    name: 'session-begin',
    text: `insert into session (thread_id, engine, provider, native_session_id, runtime_kind, runtime_id,
                                protocol_version, capabilities, generation, durability, run_id)
           values ($1, $2, $3, $4, $5, $6, $7, $8, 1, 'pending', $9)
           on conflict (thread_id, engine) do update
              set provider = $3, native_session_id = $4, runtime_kind = $5, runtime_id = $6, protocol_version = $7,
                  capabilities = $8, generation = session.generation + 1, durability = 'pending', run_id = $9,
                  updated_at = now()
           returning generation`,
    values: [
      threadId,
      engine,
      provider,
      nativeSessionId,
      runtime.kind,
      runtime.id,
      protocolVersion,
      JSON.stringify(capabilities),
      runId,
    ],
  });
  if (rows[0] === undefined) throw new Error('a generation was not begun');
  return rows[0].generation;
}

/** The engine has named the session in which a generation works; of an older generation the name is not kept. */
export async function nameSession(
  db: Queryable,
  session: { threadId: string; engine: string; generation: number },
  nativeSessionId: string,
): Promise<void> {
  await db.query({
    name: 'session-name',
    text: `update session set native_session_id = $4, updated_at = now()
            where thread_id = $1 and engine = $2 and generation = $3`,
    values: [session.threadId, session.engine, session.generation, nativeSessionId],
  });
}

/** Opens a session that needs no process, so it has one generation: a run works in it from now on. */
export async function openStanding(client: Queryable, binding: SessionBinding): Promise<void> {
  const { threadId, engine, provider, nativeSessionId, runtime, protocolVersion, capabilities, runId } = binding;
  await client.query({
    name: 'session-open-standing',
    text: `insert into session (thread_id, engine, provider, native_session_id, runtime_kind, runtime_id,
                                protocol_version, capabilities, generation, durability, run_id)
           values ($1, $2, $3, $4, $5, $6, $7, $8, 1, 'pending', $9)
           on conflict (thread_id, engine) do update
              set protocol_version = $7, capabilities = $8, durability = 'pending', run_id = $9, updated_at = now()`,
    values: [
      threadId,
      engine,
      provider,
      nativeSessionId,
      runtime.kind,
      runtime.id,
      protocolVersion,
      JSON.stringify(capabilities),
      runId,
    ],
  });
}

/**
 * Commits the session as its head: a compare-and-set on the generation. Runs in the transaction of what the head stands for.
 *
 * @throws TidemarkError `thread_durability_uncertain`: a newer generation has the session; the head that was stays.
 */
export async function commitHead(
  client: Queryable,
  { threadId, engine, generation }: { threadId: string; engine: string; generation: number },
): Promise<{ revision: number; headRef: string }> {
  const { rows } = await client.query<{ revision: number; head_ref: string }>({
    name: 'session-commit',
    text: `update session
              set revision = revision + 1, head_native_session_id = native_session_id,
                  head_ref = native_session_id || '#' || (revision + 1), durability = 'committed', updated_at = now()
            where thread_id = $1 and engine = $2 and generation = $3
        returning revision, head_ref`,
    values: [threadId, engine, generation],
  });
  if (rows[0] !== undefined) return { revision: rows[0].revision, headRef: rows[0].head_ref };
  throw new TidemarkError(
    'thread_durability_uncertain',
    `generation ${String(generation)} of the session with ${engine} is not the newest`,
    'Look at what the run did; the thread goes on from the state before it.',
  );
}

/** Says what became of a session's pending state, unless a newer generation has it. */
export async function markDurability(
  client: Queryable,
  session: { threadId: string; engine: string; generation: number },
  durability: Exclude<Durability, 'committed'>,
): Promise<void> {
  await client.query({
    name: 'session-mark',
    text: `update session set durability = $4, updated_at = now()
            where thread_id = $1 and engine = $2 and generation = $3`,
    values: [session.threadId, session.engine, session.generation, durability],
  });
}

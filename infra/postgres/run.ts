import { TidemarkError } from '../../contract/errors.ts';
import type { Queryable } from './transaction.ts';

export type RunStatus = 'queued' | 'running' | 'completed' | 'failed';
export type CanonicalState = 'open' | 'pending' | 'translating' | 'complete' | 'complete_degraded' | 'dead';

export interface RunRow {
  readonly run_id: string;
  readonly tenant_id: string;
  readonly thread_id: string;
  readonly parent_run_id: string | null;
  readonly turn_seq: number;
  readonly engine: string;
  readonly model: string;
  readonly status: RunStatus;
  readonly stop_reason: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The input as JSON text: a string of JSON may hold what a text column may not (NUL, lone surrogates). */
  readonly input: string;
  readonly settings: RunSettings;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly canonical_state: CanonicalState;
  readonly cancel_requested_at: Date | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly settled_at: Date | null;
  /** When retention removed its frames, or its rows of the log: all of them or none. */
  readonly frames_removed_at: Date | null;
  readonly deliveries_removed_at: Date | null;
}

export interface RunSettings {
  readonly max_steps?: number;
  readonly system_prompt?: string;
  /** The only tools that the run may use, and those that it may not. */
  readonly allowed_tools?: readonly string[];
  readonly denied_tools?: readonly string[];
  /** After so long an unanswered interrupt expires. */
  readonly interrupt_timeout_seconds?: number;
}

/** A run of any tenant, for the workers. */
export async function findRun(db: Queryable, runId: string): Promise<RunRow | null> {
  const { rows } = await db.query<RunRow>({
    name: 'run-find',
    text: 'select * from run where run_id = $1',
    values: [runId],
  });
  return rows[0] ?? null;
}

/**
 * A run that must be there: workers are given the ids of runs that were committed before them.
 *
 * @throws TidemarkError `run_not_found`: its thread was erased meanwhile.
 */
export async function readRun(db: Queryable, runId: string): Promise<RunRow> {
  const run = await findRun(db, runId);
  if (run === null) throw runIsGone(runId);
  return run;
}

/** A run of one tenant; null for a missing and for a foreign one alike (design, invariant 12). */
export async function findRunOfTenant(db: Queryable, tenantId: string, runId: string): Promise<RunRow | null> {
  const run = await findRun(db, runId);
  return run?.tenant_id === tenantId ? run : null;
}

/** Runs of a thread, newest turn first, before a turn when one is given. */
export async function listRuns(
  db: Queryable,
  { threadId, beforeTurn, limit }: { threadId: string; beforeTurn: number | null; limit: number },
): Promise<RunRow[]> {
  const { rows } = await db.query<RunRow>({
    name: 'run-list',
    text: `select * from run
            where thread_id = $1 and ($2::bigint is null or turn_seq < $2)
            order by turn_seq desc
            limit $3`,
    values: [threadId, beforeTurn, limit],
  });
  return rows;
}

/** Locks the thread of a run: the one lock under which runs, lanes and the log of the thread change. */
export async function lockThreadOfRun(client: Queryable, runId: string): Promise<ThreadLock> {
  const { rows } = await client.query<ThreadLock>({
    name: 'thread-lock',
    text: `select thread_id, active_run_id from thread
            where thread_id = (select thread_id from run where run_id = $1)
              for no key update`,
    values: [runId],
  });
  const lock = rows[0];
  if (lock === undefined) throw runIsGone(runId);
  return lock;
}

function runIsGone(runId: string): TidemarkError {
  return new TidemarkError(
    'run_not_found',
    `run ${runId} is not in this database`,
    'Its thread was erased, or the id is of another database.',
  );
}

export interface ThreadLock {
  readonly thread_id: string;
  readonly active_run_id: string | null;
}

/** The runs of a thread up to and with one of them, in the order of their turns. */
export async function runsUpTo(db: Queryable, run: RunRow): Promise<RunRow[]> {
  const { rows } = await db.query<RunRow>({
    name: 'run-up-to',
    text: 'select * from run where thread_id = $1 and turn_seq <= $2 order by turn_seq',
    values: [run.thread_id, run.turn_seq],
  });
  return rows;
}

/** The run of a thread whose turn came last or comes last. */
export async function latestRun(db: Queryable, threadId: string): Promise<RunRow | null> {
  const { rows } = await db.query<RunRow>({
    name: 'run-latest',
    text: 'select * from run where thread_id = $1 order by turn_seq desc limit 1',
    values: [threadId],
  });
  return rows[0] ?? null;
}

/** The ids of the user messages that AG-UI clients have posted to a thread. */
/** The run that has a thread's turn, or else its newest; null for a thread without runs. */
export async function currentRunOf(db: Queryable, threadId: string): Promise<RunRow | null> {
  const { rows } = await db.query<RunRow>({
    name: 'run-current',
    text: `select run.* from run join thread using (thread_id)
            where thread_id = $1
            order by run_id = active_run_id desc nulls last, turn_seq desc
            limit 1`,
    values: [threadId],
  });
  return rows[0] ?? null;
}

export async function knownMessageIds(db: Queryable, threadId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'run-known-messages',
    text: `select jsonb_array_elements_text(metadata -> 'ag_ui' -> 'message_ids') as id from run
            where thread_id = $1 and jsonb_typeof(metadata -> 'ag_ui' -> 'message_ids') = 'array'`,
    values: [threadId],
  });
  return new Set(rows.map((row) => row.id));
}

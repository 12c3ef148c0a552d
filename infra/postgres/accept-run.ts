import type pg from 'pg';
import { BUILTIN_ENGINE } from '../../contract/engines.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { PLATFORM } from '../../contract/frames.ts';
import { inputFrame } from '../../contract/platform-frames.ts';
import type { InputQueue } from '../../contract/queued-input.ts';
import type { Multitask } from '../../contract/rest.ts';
import { saysNothing } from '../../contract/translation.ts';
import { newId } from '../ids.ts';
import { askToStop } from './command.ts';
import { queueInput } from './input-queue.ts';
import { appendToLane, EMPTY_DIGEST, INITIAL_STATE_TEXT } from './lane.ts';
import { inputOfKey, type QueuedInputRow } from './queued-input.ts';
import { readRun, type RunRow, type RunSettings } from './run.ts';
import { inTransaction } from './transaction.ts';

export interface RunIntent {
  readonly tenantId: string;
  /** Null: the run begins a thread of its own. */
  readonly threadId: string | null;
  /** The thread's name among its clients (AG-UI): found by it, or begun under it. */
  readonly clientThreadId?: string;
  readonly input: string;
  readonly engine: string;
  readonly model: string;
  readonly parentRunId: string | null;
  readonly multitask: Multitask;
  readonly settings: RunSettings;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | null;
  /** The digest of what the client asked for, before defaults (source facts A.5). */
  readonly fingerprint: string;
}

/** What became of an intent: a run of its own, or an input of the run that has the turn. */
export interface Accepted {
  readonly run: RunRow;
  readonly created: boolean;
  /** The input that waits for `run`, or has been taken by it meanwhile; null when the intent is a run of its own. */
  readonly queuedInput: QueuedInputRow | null;
  /** The runs that were asked to stop for this one: Temporal is to be told of each. */
  readonly interrupted: readonly string[];
}

/** The queue that an intent goes to while a run has the turn. */
const QUEUE_OF: Readonly<Partial<Record<Multitask, InputQueue>>> = { steer: 'steering', follow_up: 'follow_up' };

/**
 * Accepts a run: command, run, lane with frame 0 and the `turn.started` delivery, in one transaction (design §3.1). One that steers
 * or follows up becomes an input of the run that has the turn, or will have it next, while that takes input.
 *
 * **Contract:** nothing is stored unless all is. The same idempotency key and intent give the run that is there
 * (`created: false`); the same key with another intent is `idempotency_key_reused`. The caller starts the workflow after
 * the commit; if it dies before, a dispatcher does (`command.ts`).
 */
export async function acceptRun(pool: pg.Pool, intent: RunIntent): Promise<Accepted> {
  assertCompacts(intent);
  return await inTransaction(pool, async (client) => {
    if (intent.idempotencyKey !== null) {
      const earlier = await earlierCommand(client, intent, intent.idempotencyKey);
      if (earlier !== null) return asRun(await readRun(client, earlier), false);
      const input = await earlierInput(client, intent, intent.idempotencyKey);
      if (input !== null) return await asInput(client, input);
    }
    const threadId = intent.threadId ?? (await createThread(client, intent.tenantId, intent.clientThreadId ?? null));
    const thread = await lockThread(client, threadId, intent.tenantId);
    if (thread.erasing) {
      throw new TidemarkError(
        'thread_erasing',
        `thread ${threadId} is being erased`,
        'Begin a new thread: leave the thread id out, or wait until this one is gone.',
      );
    }
    if (intent.multitask === 'reject' && thread.busy_run_id !== null) {
      throw new TidemarkError(
        'thread_busy',
        `run ${thread.busy_run_id} has the turn in thread ${threadId}`,
        'Wait for that run, cancel it, or leave "multitask" out to queue behind it.',
        { facts: { active_run_id: thread.busy_run_id } },
      );
    }
    const queue = QUEUE_OF[intent.multitask];
    if (queue !== undefined && thread.busy_run_id !== null) {
      const { input: text, idempotencyKey, fingerprint } = intent;
      const queuedInput = await queueInput(client, thread.busy_run_id, { queue, text, idempotencyKey, fingerprint });
      if (queuedInput !== null) return await asInput(client, queuedInput);
    }
    const interrupted = intent.multitask === 'interrupt' ? await stopAll(client, threadId) : [];
    const parentRunId = await parentOf(client, intent, threadId);
    const runId = newId('run');
    await client.query({
      name: 'run-insert',
      text: `with new_run as (
               insert into run (run_id, tenant_id, thread_id, parent_run_id, turn_seq, engine, model, status, input,
                                settings, metadata)
               values ($1, $2, $3, $4, (select coalesce(max(turn_seq), 0) + 1 from run where thread_id = $3), $5, $6,
                       'queued', $7, $8, $9)
             ), new_lane as (
               insert into lane (run_id, thread_id, digest, state) values ($1, $3, $10, $11)
             ), touched as (
               update thread set updated_at = now() where thread_id = $3
             )
             insert into command (command_id, tenant_id, kind, idempotency_key, fingerprint, run_id, thread_id, state,
                                  lease_until)
             values ($12, $2, 'run.create', $13, $14, $1, $3, 'queued', now() + interval '5 seconds')`,
      values: [
        runId,
        intent.tenantId,
        threadId,
        parentRunId,
        intent.engine,
        intent.model,
        JSON.stringify(intent.input),
        JSON.stringify(intent.settings),
        JSON.stringify(intent.metadata),
        EMPTY_DIGEST,
        INITIAL_STATE_TEXT,
        newId('command'),
        intent.idempotencyKey,
        intent.fingerprint,
      ],
    });
    await appendToLane(client, {
      runId,
      provider: PLATFORM,
      writer: null,
      frames: [{ at: Date.now(), frame: inputFrame(intent.input) }],
      translate: saysNothing,
    });
    return asRun(await readRun(client, runId), true, interrupted);
  });
}

function asRun(run: RunRow, created: boolean, interrupted: readonly string[] = []): Accepted {
  return { run, created, queuedInput: null, interrupted };
}

async function asInput(client: pg.ClientBase, queuedInput: QueuedInputRow): Promise<Accepted> {
  return { run: await readRun(client, queuedInput.run_id), created: false, queuedInput, interrupted: [] };
}

/** Asks every run of the thread that has not ended to stop: what the thread goes on with is the run that comes. */
async function stopAll(client: pg.ClientBase, threadId: string): Promise<string[]> {
  const { rows } = await client.query<{ run_id: string }>({
    name: 'run-live-of-thread',
    text: 'select run_id from run where thread_id = $1 and settled_at is null order by turn_seq',
    values: [threadId],
  });
  const runIds = rows.map((row) => row.run_id);
  for (const runId of runIds) await askToStop(client, runId);
  return runIds;
}

/** An engine with a loop of its own keeps its conversation itself: it would take the run's input for a prompt. */
function assertCompacts({ engine, settings }: RunIntent): void {
  if (settings.compact === undefined || engine === BUILTIN_ENGINE) return;
  throw new TidemarkError(
    'invalid_request',
    `settings.compact is of the engine ${BUILTIN_ENGINE} alone`,
    'Leave "settings.compact" out, or leave "engine" out.',
    { facts: { field: 'settings.compact', in: 'body' } },
  );
}

/** Serialises the posts of one key, so that the loser of a race reads the winner's run instead of a unique violation. */
export async function earlierCommand(
  client: pg.ClientBase,
  intent: Pick<RunIntent, 'tenantId' | 'fingerprint'>,
  key: string,
): Promise<string | null> {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 42))', [`${intent.tenantId}\n${key}`]);
  const { rows } = await client.query<{ run_id: string; fingerprint: string }>({
    name: 'command-by-key',
    text: 'select run_id, fingerprint from command where tenant_id = $1 and idempotency_key = $2',
    values: [intent.tenantId, key],
  });
  const earlier = rows[0];
  if (earlier === undefined) return null;
  if (earlier.fingerprint === intent.fingerprint) return earlier.run_id;
  throw keyReused(earlier.run_id);
}

/** The same for what became an input, under the lock that `earlierCommand` has taken. */
async function earlierInput(client: pg.ClientBase, intent: RunIntent, key: string): Promise<QueuedInputRow | null> {
  const earlier = await inputOfKey(client, intent.tenantId, key);
  if (earlier !== null && earlier.fingerprint !== intent.fingerprint) throw keyReused(earlier.run_id);
  return earlier;
}

function keyReused(runId: string): TidemarkError {
  return new TidemarkError(
    'idempotency_key_reused',
    'this Idempotency-Key was used with another request',
    'Send the first request again unchanged to get its run, or use a new key.',
    { facts: { run_id: runId } },
  );
}

/** A new thread; the one that is there when its client has named it before. */
export async function createThread(
  client: pg.ClientBase,
  tenantId: string,
  clientThreadId: string | null,
): Promise<string> {
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'thread-insert',
    text: `insert into thread (thread_id, tenant_id, client_thread_id) values ($1, $2, $3)
           on conflict (tenant_id, client_thread_id) where client_thread_id is not null
              do update set updated_at = now()
           returning thread_id`,
    values: [newId('thread'), tenantId, clientThreadId],
  });
  if (rows[0] === undefined) throw new Error('a thread was neither made nor found');
  return rows[0].thread_id;
}

export async function lockThread(
  client: pg.ClientBase,
  threadId: string,
  tenantId: string,
): Promise<{ busy_run_id: string | null; erasing: boolean }> {
  await client.query({
    name: 'thread-lock-by-id',
    text: 'select 1 from thread where thread_id = $1 for no key update',
    values: [threadId],
  });
  // a statement of its own: it must see what was committed while the lock was waited for
  const { rows } = await client.query<{ busy_run_id: string | null; erasing: boolean }>({
    name: 'thread-busy',
    text: `select coalesce(active_run_id, (select run_id from run r
                                            where r.thread_id = t.thread_id and status = 'queued'
                                            order by turn_seq limit 1)) as busy_run_id,
                  erasing_at is not null as erasing
             from thread t
            where thread_id = $1 and tenant_id = $2`,
    values: [threadId, tenantId],
  });
  const thread = rows[0];
  if (thread === undefined) throw threadNotFound();
  return thread;
}

/** The same words for a missing thread and for another tenant's (design, invariant 12). */
export function threadNotFound(): TidemarkError {
  return new TidemarkError(
    'thread_not_found',
    'there is no such thread',
    'Check the thread id; POST /v1/runs begins a thread.',
  );
}

async function parentOf(client: pg.ClientBase, intent: RunIntent, threadId: string): Promise<string | null> {
  const { rows } = await client.query<{ run_id: string }>({
    name: 'run-parent',
    text: `select run_id from run
            where thread_id = $1 and ($2::text is null or run_id = $2)
            order by turn_seq desc
            limit 1`,
    values: [threadId, intent.parentRunId],
  });
  const parent = rows[0]?.run_id ?? null;
  if (intent.parentRunId !== null && parent === null) {
    throw new TidemarkError(
      'parent_run_not_found',
      'parent_run_id names no run of this thread',
      'Name a run of the same thread, or leave parent_run_id out to go on from the newest.',
      { facts: { field: 'parent_run_id' } },
    );
  }
  return parent;
}

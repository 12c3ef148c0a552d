import type pg from 'pg';
import { newId } from '../ids.ts';
import { lockThreadOfRun, readRun, type RunRow } from './run.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** The channel on which the id of a run is sent that a live driver must look at: it was cancelled, or answered. */
export const RUN_CHANNEL = 'tidemark_run';

export interface CommandRow {
  readonly command_id: string;
  readonly kind: 'run.create' | 'run.cancel';
  readonly run_id: string;
  readonly attempt_count: number;
}

/**
 * Asks a run to stop: a durable command, and a wake-up for the process that drives it (design §3, "Cancel").
 *
 * **Contract:** safe to repeat. `settled` when the run has its end already; else `cancelling`, and the run ends as cancelled
 * once nothing of it works any more.
 */
export async function requestCancel(
  pool: pg.Pool,
  runId: string,
): Promise<{ run: RunRow; outcome: 'cancelling' | 'settled' }> {
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    if (run.settled_at !== null) return { run, outcome: 'settled' };
    await askToStop(client, runId);
    return { run: await readRun(client, runId), outcome: 'cancelling' };
  });
}

/** The request to stop in the caller's transaction, which holds the thread's lock and knows that the run is not settled. */
export async function askToStop(client: Queryable, runId: string): Promise<void> {
  await client.query({
    name: 'command-cancel',
    text: `with asked as (
             update run set cancel_requested_at = coalesce(cancel_requested_at, now()) where run_id = $1
           ), recorded as (
             insert into command (command_id, tenant_id, kind, idempotency_key, fingerprint, run_id, thread_id, state,
                                  lease_until)
             select $2, tenant_id, 'run.cancel', $3, $3, run_id, thread_id, 'queued', now() + interval '2 seconds'
               from run
              where run_id = $1
             on conflict do nothing
           )
           select pg_notify($4, $1)`,
    values: [runId, newId('command'), `cancel:${runId}`, RUN_CHANNEL],
  });
}

/** Tells the process that drives a run, when the transaction commits, to look at the run's rows. */
export async function wakeDriver(client: Queryable, runId: string): Promise<void> {
  await client.query({ name: 'run-wake-driver', text: 'select pg_notify($1, $2)', values: [RUN_CHANNEL, runId] });
}

/** Of these runs, the ones that were asked to stop: the safety net under the wake-up. */
export async function cancelRequested(db: Queryable, runIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'run-cancel-requested',
    text: 'select run_id from run where run_id = any($1) and cancel_requested_at is not null',
    values: [runIds],
  });
  return rows.map((row) => row.run_id);
}

/** Leases commands that no one has dispatched: `SKIP LOCKED`, so any number of dispatchers share the work. */
export async function leaseCommands(db: Queryable, limit: number): Promise<CommandRow[]> {
  const { rows } = await db.query<CommandRow>({
    name: 'command-lease',
    text: `update command c
              set lease_until = now() + least(interval '5 seconds' * (1 << least(c.attempt_count, 6)), interval '60 seconds'),
                  attempt_count = c.attempt_count + 1
             from (select command_id from command
                    where state = 'queued' and lease_until <= now()
                    order by lease_until
                    limit $1
                      for update skip locked) due
            where c.command_id = due.command_id
        returning c.command_id, c.kind, c.run_id, c.attempt_count`,
    values: [limit],
  });
  return rows;
}

/** Marks what Temporal has accepted. A command that the settlement completed meanwhile stays so. */
export async function markDispatched(db: Queryable, runId: string, kind: CommandRow['kind']): Promise<void> {
  await db.query({
    name: 'command-dispatched',
    text: `update command set state = 'dispatched' where run_id = $1 and kind = $2 and state = 'queued'`,
    values: [runId, kind],
  });
}

/** Keeps why a dispatch failed; the lease brings it up again. */
export async function noteDispatchError(db: Queryable, commandId: string, error: string): Promise<void> {
  await db.query({
    name: 'command-error',
    text: 'update command set error = left($2, 500) where command_id = $1',
    values: [commandId, error],
  });
}

export interface WakeRow {
  readonly interrupt_id: string;
  readonly run_id: string;
}

/** Leases answers of which Temporal was not told: whoever recorded them could not reach it. */
export async function leaseWakes(db: Queryable, limit: number): Promise<WakeRow[]> {
  const { rows } = await db.query<WakeRow>({
    name: 'wake-lease',
    text: `update interrupt i
              set wake_lease = now() + interval '5 seconds'
             from (select interrupt_id from interrupt
                    where resolved_at < now() - interval '2 seconds' and woken_at is null
                      and (wake_lease is null or wake_lease < now())
                    order by resolved_at
                    limit $1
                      for update skip locked) due
            where i.interrupt_id = due.interrupt_id
        returning i.interrupt_id, i.run_id`,
    values: [limit],
  });
  return rows;
}

/** Notes that the run's workflow was told of an answer. */
export async function markWoken(db: Queryable, interruptId: string): Promise<void> {
  await db.query({
    name: 'wake-done',
    text: 'update interrupt set woken_at = now() where interrupt_id = $1 and woken_at is null',
    values: [interruptId],
  });
}

/** The run that an idempotency key made, or null. */
export async function runOfKey(db: Queryable, tenantId: string, key: string): Promise<string | null> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'command-run-of-key',
    text: 'select run_id from command where tenant_id = $1 and idempotency_key = $2',
    values: [tenantId, key],
  });
  return rows[0]?.run_id ?? null;
}

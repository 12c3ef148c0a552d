import type pg from 'pg';
import { PLATFORM } from '../../contract/frames.ts';
import type { PlatformFrame } from '../../contract/platform-frames.ts';
import type { DropReason, InputQueue, InputState } from '../../contract/queued-input.ts';
import { saysNothing } from '../../contract/translation.ts';
import { appendToLane } from './lane.ts';
import { lockThreadOfRun } from './run.ts';
import { inTransaction, type Queryable } from './transaction.ts';

export interface QueuedInputRow {
  readonly input_id: string;
  readonly tenant_id: string;
  readonly thread_id: string;
  readonly run_id: string;
  /** The order of acceptance in the run, from 0. */
  readonly input_index: number;
  readonly queue: InputQueue;
  /** The text as JSON text, as a run's input is. */
  readonly text: string;
  readonly state: InputState;
  /** The model step that took it; while it is queued, the step that a natural stop has promised it to. */
  readonly step_index: number | null;
  readonly drop_reason: DropReason | null;
  /** The digest of what the client asked for. */
  readonly fingerprint: string;
  readonly created_at: Date;
  readonly injected_at: Date | null;
  readonly dropped_at: Date | null;
}

/** The input that an idempotency key made, or null. */
export async function inputOfKey(db: Queryable, tenantId: string, key: string): Promise<QueuedInputRow | null> {
  const { rows } = await db.query<QueuedInputRow>({
    name: 'input-of-key',
    text: 'select * from queued_input where tenant_id = $1 and idempotency_key = $2',
    values: [tenantId, key],
  });
  return rows[0] ?? null;
}

/** The inputs that a run was given while it worked, in the order of acceptance, behind an index when one is given. */
export async function listInputs(
  db: Queryable,
  { runId, after, limit }: { runId: string; after: number | null; limit: number },
): Promise<QueuedInputRow[]> {
  const { rows } = await db.query<QueuedInputRow>({
    name: 'input-list',
    text: `select * from queued_input
            where run_id = $1 and input_index > $2
            order by input_index
            limit $3`,
    values: [runId, after ?? -1, limit],
  });
  return rows;
}

/** How many inputs wait for a run. */
export async function countWaiting(db: Queryable, runId: string): Promise<number> {
  const { rows } = await db.query<{ waiting: number }>({
    name: 'input-count',
    text: `select count(*) as waiting from queued_input where run_id = $1 and state = 'queued'`,
    values: [runId],
  });
  return rows[0]?.waiting ?? 0;
}

/**
 * Drops what waits for a run, at a client's word, and says so on the stream.
 *
 * **Contract:** safe to repeat: gives what this call has dropped. An input that a natural stop has promised to the next model call
 * stays: that call would have nothing to answer.
 */
export async function clearInputs(pool: pg.Pool, runId: string): Promise<QueuedInputRow[]> {
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const { rows, frame } = await dropInputs(client, runId, 'cleared');
    if (frame === null) return [];
    const frames = [{ at: Date.now(), frame }];
    await appendToLane(client, { runId, provider: PLATFORM, writer: null, translate: saysNothing, frames });
    return rows;
  });
}

/** Drops what waits, in the caller's transaction, which holds the thread's lock and says the frame; null when nothing waited. */
export async function dropInputs(
  client: Queryable,
  runId: string,
  reason: DropReason,
): Promise<{ rows: QueuedInputRow[]; frame: PlatformFrame | null }> {
  const { rows } = await client.query<QueuedInputRow>({
    name: 'input-drop',
    text: `with dropped as (
             update queued_input set state = 'dropped', dropped_at = now(), drop_reason = $2
              where run_id = $1 and state = 'queued' and ($2 = 'run_ended' or step_index is null)
          returning *
           )
           select * from dropped order by input_index`,
    values: [runId, reason],
  });
  if (rows.length === 0) return { rows, frame: null };
  const inputs = rows.map(({ input_id: inputId, queue }) => ({ inputId, queue }));
  return { rows, frame: { type: 'input.dropped', inputs, reason } };
}

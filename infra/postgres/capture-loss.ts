import type { Queryable } from './transaction.ts';

/** Native events that were seen, or known to be there, and could not be stored. */
export interface CaptureLoss {
  readonly stepIndex: number | null;
  readonly frames: number;
  readonly reason: string;
}

/** Records losses; a run that has one completes as degraded. Runs under the thread's lock, so indexes are dense. */
export async function insertCaptureLoss(
  client: Queryable,
  runId: string,
  losses: readonly CaptureLoss[],
): Promise<void> {
  for (const { stepIndex, frames, reason } of losses) {
    await client.query({
      name: 'capture-loss-insert',
      text: `insert into capture_loss (run_id, loss_index, step_index, frames, reason)
             values ($1, (select coalesce(max(loss_index), -1) + 1 from capture_loss where run_id = $1), $2, $3, left($4, 500))`,
      values: [runId, stepIndex, frames, reason],
    });
  }
}

export interface CaptureLossRow {
  readonly loss_index: number;
  readonly step_index: number | null;
  readonly frames: number;
  readonly reason: string;
  readonly noted_at: Date;
}

/** What of a run could not be stored, in the order in which it was noted. */
export async function captureLossesOf(db: Queryable, runId: string): Promise<CaptureLossRow[]> {
  const { rows } = await db.query<CaptureLossRow>({
    name: 'capture-loss-of-run',
    text: 'select loss_index, step_index, frames, reason, noted_at from capture_loss where run_id = $1 order by loss_index',
    values: [runId],
  });
  return rows;
}

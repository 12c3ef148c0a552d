import { hash } from 'node:crypto';
import type pg from 'pg';
import { TidemarkError } from '../../contract/errors.ts';
import { INITIAL_LANE_STATE } from '../../contract/translation.ts';
import type { LaneAppend } from './lane-append.ts';
import { addSegment, type LaneWrite } from './lane-segment.ts';
import { lockLanes, writeLanes, type LaneRow } from './lane-rows.ts';
import { keepUsage } from './run-usage.ts';

/** The digest of a lane that holds no frame yet. */
export const EMPTY_DIGEST = hash('sha256', '');
export const INITIAL_STATE_TEXT = JSON.stringify(INITIAL_LANE_STATE);

export interface Appended {
  readonly ok: true;
  readonly lastSeq: number;
  /** The thread's head after the append: the `deliverySeq` of the newest delivery. */
  readonly headSeq: number;
}

export type AppendOutcome = Appended | { readonly ok: false; readonly error: TidemarkError };

/**
 * Appends segments to lanes inside the caller's transaction: frames, their canonical events, the cursor, one wake-up.
 *
 * **Contract:** takes the lock of every thread it writes, in id order, and holds it until the transaction ends, so commit
 * order is cursor order (design, invariant 2). A sealed or fenced lane refuses its append, counted and reported in its
 * outcome, and does not hurt the others (invariant 4). Outcomes are in the order of `appends`.
 */
export async function appendToLanes(client: pg.ClientBase, appends: readonly LaneAppend[]): Promise<AppendOutcome[]> {
  const rows = await lockLanes(client, [...new Set(appends.map((append) => append.runId))]);
  const heads = new Map([...rows.values()].map((row) => [row.thread_id, row.head_seq]));
  const writes = new Map([...rows].map(([runId, row]) => [runId, beginWrite(row)]));
  const outcomes: AppendOutcome[] = [];
  for (const append of appends) {
    const write = writes.get(append.runId);
    if (write === undefined) throw new Error(`run ${append.runId} has no lane`);
    const error = refusalOf(write, append);
    if (error !== null) {
      write.refused += 1;
      outcomes.push({ ok: false, error });
      continue;
    }
    if (append.frames.length > 0) await addSegment(client, write, append, heads);
    applyAlso(write, append.also);
    outcomes.push({ ok: true, lastSeq: write.lastSeq, headSeq: heads.get(write.threadId) ?? 0 });
  }
  await writeLanes(client, [...writes.values()], heads);
  await keepUsage(client, [...writes.values()]);
  return outcomes;
}

/** One append whose refusal is the caller's failure. */
export async function appendToLane(client: pg.ClientBase, append: LaneAppend): Promise<Appended> {
  const [outcome] = await appendToLanes(client, [append]);
  if (outcome?.ok !== true) throw outcome?.error ?? new Error('an append has an outcome');
  return outcome;
}

function beginWrite(row: LaneRow): LaneWrite {
  return {
    runId: row.run_id,
    threadId: row.thread_id,
    lastSeq: row.last_seq,
    digest: row.digest,
    nextEventSeq: row.next_event_seq,
    state: row.state,
    openSteps: { ...row.open_steps },
    sealed: row.sealed,
    refused: 0,
    segments: [],
    deliveries: [],
  };
}

function applyAlso(write: LaneWrite, also: LaneAppend['also']): void {
  if (also?.seal === true) write.sealed = true;
  if (also?.openStep !== undefined) write.openSteps[String(also.openStep.stepIndex)] = also.openStep.attempt;
  if (also?.closeStep !== undefined) delete write.openSteps[String(also.closeStep)];
}

function refusalOf(write: LaneWrite, append: LaneAppend): TidemarkError | null {
  if (write.sealed) {
    return new TidemarkError(
      'lane_sealed',
      `run ${write.runId} is settled; its lane takes no more frames`,
      'Nothing to do for this run; start a new one in the thread.',
    );
  }
  if (append.writer === null) return null;
  const { stepIndex, attempt } = append.writer;
  const holder = write.openSteps[String(stepIndex)];
  if (holder === attempt) return null;
  const why = holder === undefined ? 'the step is closed' : `attempt ${String(holder)} holds it`;
  return new TidemarkError(
    'lane_fenced',
    `attempt ${String(attempt)} may not write step ${String(stepIndex)} of run ${write.runId}: ${why}`,
    'Nothing to do: another attempt does this step.',
  );
}

import type { CanonicalEvent } from '../../contract/canonical.ts';
import type { StoredEvent } from '../../contract/sealed-translation.ts';
import type { Queryable } from './transaction.ts';

/** An event at its highest revision. */
export interface FoldedEvent {
  readonly event: CanonicalEvent;
  readonly stepIndex: number | null;
  readonly revision: number;
  readonly retracted: boolean;
}

/** One row of a thread's delivery log; `body` is JSON text without the delivery fields, passed through as it is. */
export interface DeliveryRow {
  readonly delivery_seq: number;
  readonly run_id: string;
  readonly record: 'event' | 'complete';
  readonly kind: string;
  readonly revision: number;
  readonly retracted: boolean;
  readonly body: string;
}

interface FoldRow {
  readonly body: string;
  readonly step_index: number | null;
  readonly revision: number;
  readonly retracted: boolean;
}

function folded(row: FoldRow): FoldedEvent {
  const event = JSON.parse(row.body) as CanonicalEvent;
  return { event, stepIndex: row.step_index, revision: row.revision, retracted: row.retracted };
}

/** The events of some steps of a run, each at its highest revision, in `seq` order. */
export async function foldedEventsOfSteps(
  db: Queryable,
  runId: string,
  steps: readonly number[],
): Promise<FoldedEvent[]> {
  const { rows } = await db.query<FoldRow>({
    name: 'delivery-folded-steps',
    text: `select body, step_index, revision, retracted
             from (select distinct on (event_id) * from delivery
                    where run_id = $1 and record = 'event' and step_index = any($2)
                    order by event_id, revision desc) latest
            order by seq`,
    values: [runId, steps],
  });
  return rows.map(folded);
}

/** Every event of a run at its highest revision, in `seq` order: what a consumer that read the whole log holds. */
export async function foldedEventsOfRun(db: Queryable, runId: string): Promise<FoldedEvent[]> {
  const { rows } = await db.query<FoldRow>({
    name: 'delivery-folded-run',
    text: `select body, step_index, revision, retracted
             from (select distinct on (event_id) * from delivery
                    where run_id = $1 and record = 'event'
                    order by event_id, revision desc) latest
            order by seq`,
    values: [runId],
  });
  return rows.map(folded);
}

/**
 * Every event of a run at its highest revision, as it is stored: what a consumer that read the whole log holds. Read in the
 * order of the log, by pages, so that the server sorts nothing and other work has its turn in between.
 */
export async function storedEventsOfRun(
  db: Queryable,
  runId: string,
  pageSize = 1_000,
): Promise<Map<string, StoredEvent>> {
  const latest = new Map<string, StoredEvent>();
  for (let after = 0; ;) {
    const { rows } = await db.query<FoldRow & { event_id: string; delivery_seq: number }>({
      name: 'delivery-stored-run',
      text: `select event_id, delivery_seq, body, step_index, revision, retracted
               from delivery
              where run_id = $1 and delivery_seq > $2 and record = 'event'
              order by delivery_seq
              limit $3`,
      values: [runId, after, pageSize],
    });
    for (const { event_id: id, body, step_index: stepIndex, revision, retracted } of rows) {
      latest.set(id, { body, stepIndex, revision, retracted });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return latest;
    after = last.delivery_seq;
  }
}

/** The heads of some threads: the safety net's one query. A thread that is gone is missing from the answer. */
export async function headsOf(db: Queryable, threadIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.query<{ thread_id: string; head_seq: number }>({
    name: 'delivery-heads',
    text: 'select thread_id, head_seq from thread where thread_id = any($1) and gone_at is null',
    values: [threadIds],
  });
  return new Map(rows.map((row) => [row.thread_id, row.head_seq]));
}

/** What of a thread's log can be read. */
export interface LogBounds {
  readonly head: number;
  /** The first delivery that is still there; beyond the head when none is. */
  readonly retainedFrom: number;
}

/** The bounds of a thread's log, or null when the thread is gone. */
export async function logBounds(db: Queryable, threadId: string): Promise<LogBounds | null> {
  const { rows } = await db.query<{ head_seq: number; retained_from: number }>({
    name: 'delivery-bounds',
    text: 'select head_seq, retained_from from thread where thread_id = $1 and gone_at is null',
    values: [threadId],
  });
  const row = rows[0];
  return row === undefined ? null : { head: row.head_seq, retainedFrom: row.retained_from };
}

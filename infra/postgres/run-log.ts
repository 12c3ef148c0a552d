import type { CanonicalEvent, DeliveredEvent } from '../../contract/canonical.ts';
import type { DeliveryRow } from './delivery.ts';
import type { Queryable } from './transaction.ts';

/** A run's rows of the delivery log behind a cursor, in order: revisions and retractions included. */
export async function runLogPage(db: Queryable, runId: string, after: number, rows: number): Promise<DeliveryRow[]> {
  const page = await db.query<DeliveryRow>({
    name: 'run-log-page',
    text: `select delivery_seq, run_id, record, kind, revision, retracted, body
             from delivery
            where run_id = $1 and delivery_seq > $2
            order by delivery_seq
            limit $3`,
    values: [runId, after, rows],
  });
  return page.rows;
}

/** A row that is an event, as a subscriber receives it. */
export function deliveredEvent(row: DeliveryRow): DeliveredEvent {
  const event = JSON.parse(row.body) as CanonicalEvent;
  const delivered = { ...event, deliverySeq: row.delivery_seq, revision: row.revision };
  return row.retracted ? { ...delivered, retracted: true } : delivered;
}

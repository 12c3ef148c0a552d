import type { DeliveryRow } from './delivery.ts';
import type { Queryable } from './transaction.ts';

/** A page ends with the row that reaches either bound, so it holds at least one row if there is one. */
export interface PageBounds {
  readonly rows: number;
  readonly bytes: number;
}

export interface Tail {
  readonly threadId: string;
  readonly after: number;
}

/** What the rows of the page before this one hold; the size of a body is read without the body. */
const BYTES_BEFORE = `coalesce(sum(octet_length(body)) over (
                            order by delivery_seq rows between unbounded preceding and 1 preceding), 0) as bytes_before`;

type TailRow = DeliveryRow & { readonly thread_id: string };

/**
 * The next deliveries of a thread after a cursor, in order.
 *
 * **Contract:** bounded by rows and by bytes, whatever the length of the log and the size of its rows.
 */
export async function deliveryPage(
  db: Queryable,
  threadId: string,
  after: number,
  bounds: PageBounds,
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'delivery-page',
    text: `select delivery_seq, run_id, record, kind, revision, retracted, body
             from (select next.*, ${BYTES_BEFORE}
                     from (select * from delivery
                            where thread_id = $1 and delivery_seq > $2
                            order by delivery_seq
                            limit $3) next) page
            where bytes_before < $4
            order by delivery_seq`,
    values: [threadId, after, bounds.rows, bounds.bytes],
  });
  return rows;
}

/** The next deliveries of many threads, each after its own cursor: what a gateway reads for one batch of wake-ups. */
export async function deliveryTails(
  db: Queryable,
  tails: readonly Tail[],
  bounds: PageBounds,
): Promise<Map<string, DeliveryRow[]>> {
  const { rows } = await db.query<TailRow>({
    name: 'delivery-tails',
    text: `select tail.thread_id, page.delivery_seq, page.run_id, page.record, page.kind, page.revision,
                  page.retracted, page.body
             from unnest($1::text[], $2::bigint[]) as tail (thread_id, after)
            cross join lateral (
                    select next.*, ${BYTES_BEFORE}
                      from (select * from delivery d
                             where d.thread_id = tail.thread_id and d.delivery_seq > tail.after
                             order by d.delivery_seq
                             limit $3) next) page
            where page.bytes_before < $4
            order by tail.thread_id, page.delivery_seq`,
    values: [tails.map(({ threadId }) => threadId), tails.map(({ after }) => after), bounds.rows, bounds.bytes],
  });
  return Map.groupBy(rows, (row) => row.thread_id);
}

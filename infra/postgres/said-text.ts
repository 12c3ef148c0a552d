import type { Queryable } from './transaction.ts';

/** What a run's engine said to the user itself, sub-agents left out: its messages, in order, at most `limit` characters of each. */
export async function saidText(db: Queryable, runId: string, limit: number): Promise<string> {
  const { rows } = await db.query<{ text: string }>({
    name: 'delivery-said-text',
    text: `select left(string_agg(body::json ->> 'text', '' order by delivery_seq), $2) as text
             from delivery
            where run_id = $1 and kind = 'message.delta' and not retracted
              and body::json -> 'identity' ->> 'nativeParentSessionId' is null
            group by body::json ->> 'messageId'
            order by min(delivery_seq)`,
    values: [runId, limit],
  });
  return rows.map(({ text }) => text).join('\n\n');
}

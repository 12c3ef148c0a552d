import type { Message } from '../../contract/agent-messages.ts';
import type { Queryable } from './transaction.ts';

/** A message with its place: `run_id` and its index in the run name it for good. */
export interface PlacedMessage {
  readonly runId: string;
  readonly index: number;
  readonly message: Message;
}

const PAGE = 100;

/** The runs whose conversation leads to a run, oldest first, that run the last: a fork follows its parents. */
export async function lineOfRun(db: Queryable, runId: string): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'session-line',
    text: `with recursive line (run_id, parent_run_id, depth) as (
             select run_id, parent_run_id, 0 from run where run_id = $1
             union all
             select r.run_id, r.parent_run_id, line.depth + 1 from run r join line on r.run_id = line.parent_run_id
           )
           select run_id from line order by depth desc`,
    values: [runId],
  });
  return rows.map((row) => row.run_id);
}

/** The messages of some runs, in order, read by key in pages, so that no conversation is held in memory whole. */
export async function* messagesOfLine(db: Queryable, runIds: readonly string[]): AsyncGenerator<PlacedMessage> {
  for (const runId of runIds) {
    for (let after = -1; ;) {
      const { rows } = await db.query<{ message_index: number; body: string }>({
        name: 'session-message-page',
        text: `select message_index, body from message
                where run_id = $1 and message_index > $2 and sub_agent_step is null
                order by message_index
                limit $3`,
        values: [runId, after, PAGE],
      });
      for (const { message_index: index, body } of rows) yield { runId, index, message: JSON.parse(body) as Message };
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.message_index ?? after;
    }
  }
}

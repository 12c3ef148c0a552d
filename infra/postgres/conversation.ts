import type { Message } from '../../contract/agent-messages.ts';
import { summaryMessage } from '../../contract/compaction.ts';
import { newestCompaction, type Compaction, type MessagePlace } from './compaction.ts';
import type { Queryable } from './transaction.ts';

/** A message as the model is to see it. */
export interface ConversationEntry {
  readonly message: Message;
  /** Null: a summary, which stands for messages and is none. */
  readonly place: MessagePlace | null;
  /** Whether it was said in this view of the conversation: what it reports of its prompt holds for this one. */
  readonly isCurrent: boolean;
}

/**
 * What the model is to see: the messages of the run's ancestors, oldest first, then its own (a fork follows its parents).
 *
 * **Contract:** where the line was compacted, the newest summary stands for all before its first kept message. A compaction whose first
 * kept message is not there counts for nothing.
 */
export async function readConversation(db: Queryable, runId: string): Promise<ConversationEntry[]> {
  const compaction = await newestCompaction(db, runId);
  const { rows } = await db.query<{ run_id: string; message_index: number; body: string; is_current: boolean }>({
    name: 'conversation',
    text: `with recursive line (run_id, parent_run_id, depth) as (
             select run_id, parent_run_id, 0 from run where run_id = $1
             union all
             select r.run_id, r.parent_run_id, line.depth + 1 from run r join line on r.run_id = line.parent_run_id
           ), cut (kept_depth, kept_index, at_depth, at_index) as (
             select kept.depth, $3::int, made.depth, $5::int
               from line kept, line made
              where kept.run_id = $2 and made.run_id = $4
           )
           select m.run_id, m.message_index, m.body,
                  cut.at_depth is null or line.depth < cut.at_depth
                    or (line.depth = cut.at_depth and m.message_index >= cut.at_index) as is_current
             from line
             join message m using (run_id)
             left join cut on true
            where m.sub_agent_step is null
              and (cut.kept_depth is null or line.depth < cut.kept_depth
                   or (line.depth = cut.kept_depth and m.message_index >= cut.kept_index))
            order by line.depth desc, m.message_index`,
    values: [runId, ...placesOf(compaction)],
  });
  const entries = rows.map((row) => ({
    message: JSON.parse(row.body) as Message,
    place: { runId: row.run_id, messageIndex: row.message_index },
    isCurrent: row.is_current,
  }));
  return compaction === null ? entries : [summaryEntry(compaction), ...entries];
}

/** The same as messages alone. */
export async function conversationOf(db: Queryable, runId: string): Promise<Message[]> {
  return (await readConversation(db, runId)).map(({ message }) => message);
}

function placesOf(compaction: Compaction | null): (string | number | null)[] {
  if (compaction === null) return [null, null, null, null];
  const { firstKept, runId, atMessageIndex } = compaction;
  return [firstKept.runId, firstKept.messageIndex, runId, atMessageIndex];
}

function summaryEntry({ summary, createdAt }: Compaction): ConversationEntry {
  return { message: summaryMessage(summary, createdAt.getTime()), place: null, isCurrent: true };
}

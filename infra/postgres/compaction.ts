import type pg from 'pg';
import type { Usage } from '../../contract/agent-messages.ts';
import type { CompactionTrigger } from '../../contract/compaction.ts';
import type { LaneAppend, StepWriter } from './lane-append.ts';
import { appendToLane } from './lane.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** Where a message stands. */
export interface MessagePlace {
  readonly runId: string;
  readonly messageIndex: number;
}

/** A summary that stands for the messages of a line of runs before the first kept one. */
export interface Compaction {
  readonly runId: string;
  readonly stepIndex: number;
  /** How many messages the run had: those from here on came after. */
  readonly atMessageIndex: number;
  readonly firstKept: MessagePlace;
  readonly summary: string;
  readonly trigger: CompactionTrigger;
  readonly guidance: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly messagesSummarized: number;
  readonly messagesKept: number;
  /** Of the call that made the summary. */
  readonly usage: Usage | null;
  readonly createdAt: Date;
}

interface CompactionRow {
  readonly run_id: string;
  readonly step_index: number;
  readonly at_message_index: number;
  readonly first_kept_run_id: string;
  readonly first_kept_message_index: number;
  readonly summary: string;
  readonly trigger: CompactionTrigger;
  readonly guidance: string | null;
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly messages_summarized: number;
  readonly messages_kept: number;
  readonly usage: Usage | null;
  readonly created_at: Date;
}

/**
 * Installs a compaction with the frames that say so, in one transaction, while the step is held.
 *
 * @throws TidemarkError `lane_fenced` or `lane_sealed`: another attempt has the step, and nothing of this is stored.
 */
export async function commitCompaction(
  pool: pg.Pool,
  append: LaneAppend & { readonly writer: StepWriter },
  made: Omit<Compaction, 'createdAt'>,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await appendToLane(client, append);
    await client.query({
      name: 'compaction-insert',
      text: `insert into compaction (run_id, step_index, at_message_index, first_kept_run_id, first_kept_message_index,
                                     summary, trigger, guidance, tokens_before, tokens_after, messages_summarized,
                                     messages_kept, usage)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      values: [
        made.runId,
        made.stepIndex,
        made.atMessageIndex,
        made.firstKept.runId,
        made.firstKept.messageIndex,
        JSON.stringify(made.summary),
        made.trigger,
        made.guidance,
        made.tokensBefore,
        made.tokensAfter,
        made.messagesSummarized,
        made.messagesKept,
        made.usage === null ? null : JSON.stringify(made.usage),
      ],
    });
  });
}

/** The compaction that a step made, or null. */
export async function compactionOfStep(db: Queryable, runId: string, stepIndex: number): Promise<Compaction | null> {
  const { rows } = await db.query<CompactionRow>({
    name: 'compaction-of-step',
    text: 'select * from compaction where run_id = $1 and step_index = $2',
    values: [runId, stepIndex],
  });
  return rows[0] === undefined ? null : compactionOf(rows[0]);
}

/** What the summaries of a run have used. */
export async function usageOfCompactions(db: Queryable, runId: string): Promise<Usage[]> {
  const { rows } = await db.query<{ usage: Usage }>({
    name: 'compaction-usage',
    text: 'select usage from compaction where run_id = $1 and usage is not null order by step_index',
    values: [runId],
  });
  return rows.map(({ usage }) => usage);
}

/** The newest compaction along a run's line of ancestors whose first kept message is there, or null. */
export async function newestCompaction(db: Queryable, runId: string): Promise<Compaction | null> {
  const { rows } = await db.query<CompactionRow>({
    name: 'compaction-newest',
    text: `with recursive line (run_id, parent_run_id, depth) as (
             select run_id, parent_run_id, 0 from run where run_id = $1
             union all
             select r.run_id, r.parent_run_id, line.depth + 1 from run r join line on r.run_id = line.parent_run_id
           )
           select c.*
             from line made
             join compaction c on c.run_id = made.run_id
             join line kept on kept.run_id = c.first_kept_run_id
             join message m on m.run_id = kept.run_id and m.message_index = c.first_kept_message_index
            where kept.depth > made.depth or (kept.depth = made.depth and m.message_index < c.at_message_index)
            order by made.depth, c.step_index desc
            limit 1`,
    values: [runId],
  });
  return rows[0] === undefined ? null : compactionOf(rows[0]);
}

function compactionOf(row: CompactionRow): Compaction {
  return {
    runId: row.run_id,
    stepIndex: row.step_index,
    atMessageIndex: row.at_message_index,
    firstKept: { runId: row.first_kept_run_id, messageIndex: row.first_kept_message_index },
    summary: JSON.parse(row.summary) as string,
    trigger: row.trigger,
    guidance: row.guidance,
    tokensBefore: row.tokens_before,
    tokensAfter: row.tokens_after,
    messagesSummarized: row.messages_summarized,
    messagesKept: row.messages_kept,
    usage: row.usage,
    createdAt: row.created_at,
  };
}

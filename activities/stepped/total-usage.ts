import type { Usage } from '../../contract/agent-messages.ts';
import { usageOfCompactions } from '../../infra/postgres/compaction.ts';
import { answersOfRun } from '../../infra/postgres/message.ts';
import type { Pool } from '../../infra/postgres/pool.ts';
import { roundUsd } from '../engines/builtin/price.ts';

/** What model calls have used together; undefined where none reported anything. */
export function totalUsage(reported: readonly Usage[]): Usage | undefined {
  if (reported.length === 0) return undefined;
  const total: Record<string, number> = {};
  for (const usage of reported) {
    for (const [counter, value] of Object.entries(usage)) total[counter] = (total[counter] ?? 0) + (value ?? 0);
  }
  const { costUsd } = total;
  return costUsd === undefined ? total : { ...total, costUsd: roundUsd(costUsd) };
}

/** What a run's model calls have used so far, its sub-agents' and its summaries with them; `now` is what is not stored yet. */
export async function usageOfRun(db: Pool, runId: string, now: Usage | undefined): Promise<Usage | undefined> {
  const [messages, summaries] = await Promise.all([answersOfRun(db, runId), usageOfCompactions(db, runId)]);
  const answers = messages.flatMap((message) => (message.role === 'assistant' ? (message.usage ?? []) : []));
  return totalUsage([...answers, ...summaries, ...(now === undefined ? [] : [now])]);
}

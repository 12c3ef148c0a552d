import { removeFrames, runsWithOldFrames, threadsWithOldLogs, trimLog } from '../infra/postgres/retention.ts';
import type { Dependencies } from './dependencies.ts';

/** So many runs or threads are read at a time. */
const BATCH = 50;

/**
 * Removes what the retention policy lets go: frames of runs, and the beginnings of logs, that are complete for long enough.
 *
 * **Contract:** in small transactions, one run or one cut each; safe to repeat, to break off and to run twice at once. Without a
 * policy nothing is removed.
 */
export function createApplyRetention({ config, pool, log }: Pick<Dependencies, 'config' | 'pool' | 'log'>) {
  return async function applyRetention(stopped: AbortSignal): Promise<void> {
    const { framesDays, deliveriesDays } = config.retain;
    const runs = framesDays === undefined ? 0 : await removeOldFrames(framesDays, stopped);
    const cuts = deliveriesDays === undefined ? 0 : await trimOldLogs(deliveriesDays, stopped);
    if (runs + cuts > 0) log.info({ runsWithoutFrames: runs, cuts }, 'retention applied');
  };

  async function removeOldFrames(days: number, stopped: AbortSignal): Promise<number> {
    for (let removed = 0; ;) {
      const runIds = await runsWithOldFrames(pool, days, BATCH);
      for (const runId of runIds) {
        if (stopped.aborted) return removed;
        await removeFrames(pool, runId);
        removed += 1;
      }
      if (runIds.length < BATCH) return removed;
    }
  }

  async function trimOldLogs(days: number, stopped: AbortSignal): Promise<number> {
    const done: string[] = [];
    for (let cuts = 0; ;) {
      const threadIds = await threadsWithOldLogs(pool, { days, limit: BATCH, except: done });
      for (const threadId of threadIds) {
        if (stopped.aborted) return cuts;
        if (await trimLog(pool, threadId, days)) cuts += 1;
        else done.push(threadId);
      }
      if (threadIds.length === 0) return cuts;
    }
  }
}

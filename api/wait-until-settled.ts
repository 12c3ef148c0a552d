import type { Response } from 'express';
import { findRunOfTenant, type RunRow } from '../infra/postgres/run.ts';
import { headsOf } from '../infra/postgres/delivery.ts';
import type { Gateway } from './gateway.ts';

/**
 * Waits until a run has its end, by the news of its thread: nothing is polled while nothing happens.
 *
 * **Contract:** returns the run as it is after `waitMs` at the latest, when the client leaves, and when the gateway drains. Null when its thread was
 * erased meanwhile.
 */
export async function waitUntilSettled(
  { pool, hub }: Gateway,
  run: RunRow,
  waitMs: number,
  res: Response,
): Promise<RunRow | null> {
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  const over = AbortSignal.any([gone.signal, AbortSignal.timeout(waitMs)]);
  for (;;) {
    const head = (await headsOf(pool, [run.thread_id])).get(run.thread_id) ?? 0;
    const now = await findRunOfTenant(pool, run.tenant_id, run.run_id);
    if (now === null || now.settled_at !== null || over.aborted || !hub.isOpen) return now;
    await hub.waitForNews(run.thread_id, head, over);
  }
}

import type { DeliveryRow } from '../../infra/postgres/delivery.ts';
import { logBounds } from '../../infra/postgres/delivery.ts';
import { runLogPage } from '../../infra/postgres/run-log.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import type { Hub } from '../hub.ts';
import { patiently } from '../patience.ts';
import type { WriteStream } from '../write-stream.ts';

const PAGE_ROWS = 500;

/**
 * A run's rows of the log from its first, page by page and then as they come, until its completion record or the end of the
 * stream. An empty page says that all that is stored was given.
 *
 * **Contract:** every row once and in order. A database that is away is waited for; a gateway that drains ends it, and so do
 * the erasure of its thread and the removal of its rows.
 */
export async function* followRun(hub: Hub, run: RunRow, stream: WriteStream): AsyncGenerator<DeliveryRow[]> {
  const gone = new AbortController();
  void stream.closed.then(() => gone.abort());
  const threadId = run.thread_id;
  for (let after = 0; stream.isOpen;) {
    const [bounds, rows] = await patiently(stream, async () => {
      const log = await logBounds(hub.replayDb, threadId);
      return [log, await runLogPage(hub.replayDb, run.run_id, after, PAGE_ROWS)] as const;
    });
    if (bounds === null || (rows.length === 0 && after > 0 && bounds.retainedFrom > after)) return;
    yield rows;
    const last = rows.at(-1);
    if (last?.record === 'complete') return;
    if (last !== undefined) {
      after = last.delivery_seq;
      if (rows.length === PAGE_ROWS) continue;
    }
    if (!hub.isOpen) return;
    if (rows.length === 0) await hub.waitForNews(threadId, bounds.head, gone.signal);
  }
}

import { encodeDeliveryItem } from '../contract/encoders/canonical.ts';
import { deliveryPage } from '../infra/postgres/delivery-page.ts';
import { threadNotFound } from '../infra/postgres/accept-run.ts';
import { assertNoGap } from './cursor.ts';
import { matches, type DeliveryFilter } from './delivery-filter.ts';
import type { Hub } from './hub.ts';

export interface ThreadPageRequest {
  readonly threadId: string;
  readonly after: number;
  readonly head: number;
  readonly filter: DeliveryFilter | null;
  readonly limit: number;
  readonly waitMs: number;
}

interface Page {
  readonly items: readonly string[];
  readonly nextAfter: number;
}

/** A page ends early at so many bytes, and after looking at so many rows that a filter hides. */
const PAGE_BYTES = 1024 * 1024;
const SCAN = { rows: 1_000, pages: 20 };

/**
 * A page of a thread's log as JSON text: what the stream would say, in items. With `waitMs` an empty page waits for news.
 *
 * **Contract:** bounded in bytes, so it may hold fewer than `limit` items: the log goes on while `next_after` is less than
 * `head`. Answers at once when the client leaves or the gateway drains.
 */
export async function threadPage(hub: Hub, request: ThreadPageRequest, gone: AbortSignal): Promise<string> {
  const over = AbortSignal.any([gone, AbortSignal.timeout(request.waitMs)]);
  let page = await readPage(hub, request, request.after);
  while (page.items.length === 0 && request.waitMs > 0 && hub.isOpen && !over.aborted) {
    if (!(await hub.waitForNews(request.threadId, page.nextAfter, over))) throw threadNotFound();
    page = await readPage(hub, request, page.nextAfter);
  }
  const { items, nextAfter } = page;
  const head = Math.max(request.head, nextAfter);
  const start = `{"thread_id":${JSON.stringify(request.threadId)},"deliveries":[${items.join(',')}]`;
  return `${start},"next_after":${String(nextAfter)},"head":${String(head)}}`;
}

async function readPage(hub: Hub, request: ThreadPageRequest, after: number): Promise<Page> {
  const { threadId, filter, limit } = request;
  const items: string[] = [];
  let nextAfter = after;
  let bytes = 0;
  for (let scanned = 0; scanned < SCAN.pages && items.length < limit && bytes < PAGE_BYTES; scanned++) {
    const bounds = { rows: filter === null ? limit - items.length : SCAN.rows, bytes: PAGE_BYTES - bytes };
    const rows = await deliveryPage(hub.replayDb, threadId, nextAfter, bounds);
    assertNoGap(nextAfter, rows);
    for (const row of rows) {
      if (items.length >= limit) break;
      nextAfter = row.delivery_seq;
      if (filter !== null && !matches(filter, row)) continue;
      const item = encodeDeliveryItem(row);
      items.push(item);
      bytes += Buffer.byteLength(item);
    }
    if (rows.length === 0 || nextAfter >= request.head) break;
  }
  return { items, nextAfter };
}

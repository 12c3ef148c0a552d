import { z } from 'zod';
import { invalidStream } from './thread-connection.ts';
import { readCompletion, readEvent, type Delivery } from './thread-item.ts';
import { pathOf, type Query, type Transport } from './transport.ts';

const Page = z.looseObject({
  deliveries: z.array(z.looseObject({ event: z.unknown().optional(), complete: z.unknown().optional() })),
  next_after: z.int().nonnegative(),
  head: z.int().nonnegative(),
});

export interface StoredQuery {
  /** Behind this cursor, or from the oldest delivery that is still there (default). */
  readonly after?: number;
  readonly runId?: string;
  readonly signal?: AbortSignal | undefined;
}

/** What a thread's log holds at this moment, page by page. */
export async function* storedDeliveries(
  transport: Transport,
  threadId: string,
  { after, runId, signal }: StoredQuery = {},
): AsyncGenerator<Delivery, void, undefined> {
  let from: Query = after === undefined ? { from: 'oldest' } : { after };
  for (;;) {
    const query = { limit: 1_000, run_id: runId, ...from };
    const request = { method: 'GET', path: pathOf`/v1/threads/${threadId}/events`, query, signal } as const;
    const { deliveries, next_after: next, head } = await transport.json(Page, request);
    yield* deliveries.map(readItem);
    if (next >= head) return;
    from = { after: next };
  }
}

function readItem({ event, complete }: { readonly event?: unknown; readonly complete?: unknown }): Delivery {
  try {
    return complete === undefined ? readEvent(event) : readCompletion(complete);
  } catch (error) {
    throw invalidStream(error);
  }
}

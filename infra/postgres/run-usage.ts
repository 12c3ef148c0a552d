import type { CanonicalBody } from '../../contract/canonical.ts';
import type { LaneWrite } from './lane-segment.ts';
import type { Queryable } from './transaction.ts';

/** What a run has used so far, as its engine said it. */
export type RunUsage = Omit<CanonicalBody<'usage.updated'>, 'kind'>;

const COUNTERS = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'costUsd'] as const satisfies (keyof RunUsage)[];

/**
 * Keeps with each run what the deliveries of a write say that it has used; what they leave out stays.
 *
 * **Contract:** in the transaction of those deliveries, whose threads are locked.
 */
export async function keepUsage(client: Queryable, writes: readonly LaneWrite[]): Promise<void> {
  const said = writes.flatMap(({ runId, deliveries }) => {
    const usage = usageOf(deliveries);
    return usage === null ? [] : [{ runId, usage: JSON.stringify(usage) }];
  });
  if (said.length === 0) return;
  await client.query({
    name: 'run-usage',
    text: `update run r
              set usage = coalesce(r.usage, '{}') || said.usage
             from unnest($1::text[], $2::jsonb[]) as said (run_id, usage)
            where r.run_id = said.run_id`,
    values: [said.map(({ runId }) => runId), said.map(({ usage }) => usage)],
  });
}

/** The newest of each counter. */
function usageOf(deliveries: LaneWrite['deliveries']): RunUsage | null {
  const usage: Record<string, number> = {};
  for (const { event, retracted } of deliveries) {
    if (event.kind !== 'usage.updated' || retracted) continue;
    for (const counter of COUNTERS) {
      const count = event[counter];
      if (count !== undefined) usage[counter] = count;
    }
  }
  return Object.keys(usage).length > 0 ? usage : null;
}

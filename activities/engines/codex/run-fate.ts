import { z } from 'zod';
import type { JsonRpcConnection } from '../wire/json-rpc-connection.ts';
import type { TurnFate } from '../driver.ts';
import type { ThreadTurnsListParams } from './app-server-types.ts';
import { turnFateOf } from './turn-end.ts';

export const TurnPage = z.object({
  data: z.array(
    z.object({
      status: z.string().catch(''),
      items: z.array(z.object({ type: z.string(), clientId: z.string().nullish().catch(null) })).catch([]),
    }),
  ),
});

/** A run is at most so many turns of its thread back: each attempt at it is one. */
const TURNS_LOOKED_AT = 3;

/** What became of a run's last turn in a thread that was taken up again; unknown where the thread never heard of the run. */
export async function fateOfRun(
  connection: JsonRpcConnection,
  { threadId, runId }: { threadId: string; runId: string },
): Promise<TurnFate> {
  const page: ThreadTurnsListParams = { threadId, limit: TURNS_LOOKED_AT, sortDirection: 'desc', itemsView: 'summary' };
  const answer = await connection.request('thread/turns/list', page);
  const turns = TurnPage.safeParse(answer.result).data?.data ?? [];
  const turn = turns.find(({ items }) =>
    items.some(({ type, clientId }) => type === 'userMessage' && clientId === runId),
  );
  return turn === undefined ? 'unknown' : turnFateOf(turn.status);
}

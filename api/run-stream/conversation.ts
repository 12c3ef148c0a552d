import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgUiMessage } from '../../contract/encoders/ag-ui-events.ts';
import { advanceAgUiReplay, startAgUiReplay } from '../../contract/encoders/ag-ui-reopen.ts';
import type { LegContext } from '../../contract/encoders/lifecycle-encoding.ts';
import { legRunId } from '../../contract/lifecycle-projection.ts';
import { runsUpTo, type RunRow } from '../../infra/postgres/run.ts';
import type { Queryable } from '../../infra/postgres/transaction.ts';
import { LegReader, readStored, type ProjectedEvent } from './leg-reader.ts';

/** A thread's conversation up to a leg, as an AG-UI client holds it. */
export interface Conversation {
  readonly messages: readonly AgUiMessage[];
  /** Calls that the leg before left without a result. */
  readonly unanswered: readonly string[];
}

/** The ids under which an AG-UI client knows the user messages of a run; kept in its metadata when the client posted it. */
export function clientMessageIds(run: RunRow): string[] {
  const { ag_ui: client } = run.metadata as { ag_ui?: { message_ids?: unknown } };
  const ids = client?.message_ids;
  return Array.isArray(ids) && ids.every((id) => typeof id === 'string') && ids.length > 0
    ? ids
    : [`${run.run_id}:input`];
}

/** Builds the conversation of a thread up to a leg of one of its runs, from the log: what a snapshot must hold. */
export async function conversationBefore(
  db: Queryable,
  run: RunRow,
  leg: number,
  context: LegContext,
): Promise<Conversation> {
  let conversation: Conversation = { messages: [], unanswered: [] };
  for (const each of await runsUpTo(db, run)) {
    // retention has removed what it said: the conversation begins after it
    if (each.deliveries_removed_at !== null) continue;
    const id = clientMessageIds(each).at(-1) ?? '';
    const user: AgUiMessage = { id, role: 'user', content: JSON.parse(each.input) as string };
    conversation = { messages: [...conversation.messages, user], unanswered: [] };
    const stopAt = each.run_id === run.run_id ? legRunId(run.run_id, leg) : null;
    if (stopAt === legRunId(run.run_id, 1)) break;
    conversation = await afterRun(db, each, { conversation, context, stopAt });
    await nextTurn();
  }
  return conversation;
}

async function afterRun(
  db: Queryable,
  run: RunRow,
  { conversation, context, stopAt }: { conversation: Conversation; context: LegContext; stopAt: string | null },
): Promise<Conversation> {
  let current = '';
  let stopped = false;
  let replay = startAgUiReplay(conversation.messages, conversation.unanswered);
  await readStored(db, run, new LegReader(run, null), (events) => {
    for (const batch of byLeg(events)) {
      const legId = batch[0]?.event.run_id ?? '';
      stopped ||= legId === stopAt;
      if (stopped) return;
      if (current !== '' && legId !== current) {
        replay = startAgUiReplay(replay.messages, Object.keys(replay.state.unanswered));
      }
      current = legId;
      replay = advanceAgUiReplay(
        replay,
        batch.map(({ event, deliverySeq }) => ({ event, context: { ...context, deliverySeq } })),
      );
    }
  });
  return { messages: replay.messages, unanswered: Object.keys(replay.state.unanswered) };
}

function byLeg(events: readonly ProjectedEvent[]): ProjectedEvent[][] {
  const batches: ProjectedEvent[][] = [];
  for (const each of events) {
    const batch = batches.at(-1);
    if (batch?.[0]?.event.run_id === each.event.run_id) batch.push(each);
    else batches.push([each]);
  }
  return batches;
}

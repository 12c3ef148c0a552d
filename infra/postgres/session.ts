import type pg from 'pg';
import { openStanding, sessionOfRun, type SessionBinding } from './harness-session.ts';
import type { LaneAppend } from './lane-append.ts';
import { appendToLane } from './lane.ts';
import { insertMessages, messagesOfRun, type NewMessage } from './message.ts';
import { lockThreadOfRun, readRun } from './run.ts';
import { inTransaction } from './transaction.ts';

/**
 * Keeps a run's input as the first message of its conversation.
 *
 * **Contract:** safe to repeat: the first message is kept once.
 */
export async function openConversation(pool: pg.Pool, runId: string, message: NewMessage): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    if ((await messagesOfRun(client, runId)).length > 0) return;
    await insertMessages(client, runId, null, [message]);
  });
}

/**
 * Opens a run's session: the frame that says its capabilities and the first message, together. A run without one adds nothing to the
 * conversation itself.
 *
 * **Contract:** safe to repeat: a session is opened once; a settled run's is left alone.
 */
export async function openSession(
  pool: pg.Pool,
  session: { runId: string; binding: SessionBinding; append: LaneAppend; message: NewMessage | null },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, session.runId);
    const run = await readRun(client, session.runId);
    if (run.settled_at !== null || (await sessionOfRun(client, session.runId)) !== null) return;
    // a run of before sessions had rows
    if ((await messagesOfRun(client, session.runId)).length > 0) return;
    await openStanding(client, session.binding);
    await appendToLane(client, session.append);
    await insertMessages(client, session.runId, null, session.message === null ? [] : [session.message]);
  });
}

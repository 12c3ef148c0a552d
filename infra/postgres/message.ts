import type { Message } from '../../contract/agent-messages.ts';
import { delegatingStepOf } from '../../contract/sub-agent.ts';
import type { Queryable } from './transaction.ts';

export type NewMessage = Message;

/**
 * Adds messages to a run's session, in order: to the conversation of the agent whose step it is.
 *
 * **Contract:** a tool call is answered once: a second result of the same call is left out, and the ids of the calls that
 * were newly answered are returned. Runs under the thread's lock, so indexes are dense.
 */
export async function insertMessages(
  client: Queryable,
  runId: string,
  stepIndex: number | null,
  messages: readonly NewMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  await client.query({
    name: 'message-insert',
    text: `insert into message (run_id, message_index, step_index, role, tool_call_id, body, sub_agent_step)
           select $1, (select coalesce(max(message_index), -1) from message where run_id = $1) + ordinal, $2, role,
                  tool_call_id, body, $6
             from unnest($3::text[], $4::text[], $5::text[]) with ordinality as m (role, tool_call_id, body, ordinal)
           on conflict (run_id, tool_call_id) where tool_call_id is not null do nothing`,
    values: [
      runId,
      stepIndex,
      messages.map((message) => message.role),
      messages.map((message) => (message.role === 'tool-result' ? message.toolCallId : null)),
      messages.map((message) => JSON.stringify(message)),
      delegatingStepOf(stepIndex),
    ],
  });
}

/** The messages of one run's own conversation, in order. */
export async function messagesOfRun(db: Queryable, runId: string): Promise<Message[]> {
  const { rows } = await db.query<{ body: string }>({
    name: 'message-of-run',
    text: 'select body from message where run_id = $1 and sub_agent_step is null order by message_index',
    values: [runId],
  });
  return rows.map((row) => JSON.parse(row.body) as Message);
}

/** The conversation of a sub-agent: its task, then what it said and was told. */
export async function messagesOfSubAgent(db: Queryable, runId: string, delegatingStep: number): Promise<Message[]> {
  const { rows } = await db.query<{ body: string }>({
    name: 'message-of-sub-agent',
    text: 'select body from message where run_id = $1 and sub_agent_step = $2 order by message_index',
    values: [runId, delegatingStep],
  });
  return rows.map((row) => JSON.parse(row.body) as Message);
}

/** What all models of a run have answered, those of its sub-agents with them. */
export async function answersOfRun(db: Queryable, runId: string): Promise<Message[]> {
  const { rows } = await db.query<{ body: string }>({
    name: 'message-answers',
    text: `select body from message where run_id = $1 and role = 'assistant' order by message_index`,
    values: [runId],
  });
  return rows.map((row) => JSON.parse(row.body) as Message);
}

/** The assistant message that a model step left, or null while there is none. */
export async function assistantMessageOfStep(db: Queryable, runId: string, stepIndex: number): Promise<Message | null> {
  const { rows } = await db.query<{ body: string }>({
    name: 'message-of-step',
    text: `select body from message where run_id = $1 and step_index = $2 and role = 'assistant'`,
    values: [runId, stepIndex],
  });
  return rows[0] === undefined ? null : (JSON.parse(rows[0].body) as Message);
}

/** A run's session as it stands: how many messages it holds, those of its sub-agents with them, and a name for exactly that state. */
export async function sessionHead(db: Queryable, runId: string): Promise<{ revision: number; headRef: string }> {
  const { rows } = await db.query<{ revision: number }>({
    name: 'message-count',
    text: 'select count(*) as revision from message where run_id = $1',
    values: [runId],
  });
  const revision = rows[0]?.revision ?? 0;
  return { revision, headRef: `${runId}#${String(revision)}` };
}

import type { Message } from '../../contract/agent-messages.ts';
import { BUILTIN_ENGINE } from '../../contract/engines.ts';
import { inputTextOf, type SessionStep, type SessionTurn } from '../../contract/session-turns.ts';
import { newId } from '../ids.ts';
import { EMPTY_DIGEST, INITIAL_STATE_TEXT } from './lane.ts';
import type { Queryable } from './transaction.ts';

/** So many rows at once: other work of this process gets its turn between. */
const ROWS_PER_STATEMENT = 500;

/** A turn that was held elsewhere, as the run that it becomes. */
export interface ImportedRun {
  readonly runId: string;
  readonly threadId: string;
  readonly parentRunId: string | null;
  readonly turnSeq: number;
  readonly model: string;
  readonly turn: SessionTurn;
  readonly steps: readonly (SessionStep & { readonly contentHash: string })[];
}

/**
 * The rows of runs that have their end already, with their lanes, their canonicalization intents, due at once, and the command by
 * which the import is known.
 */
export async function insertImportedRuns(
  client: Queryable,
  {
    tenantId,
    threadId,
    runs,
    idempotency,
  }: {
    tenantId: string;
    threadId: string;
    runs: readonly ImportedRun[];
    idempotency: { readonly key: string; readonly fingerprint: string } | null;
  },
): Promise<void> {
  await client.query({
    name: 'import-runs',
    text: `with imported as (
             select * from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[],
                                  $10::text[])
                 as r (run_id, parent_run_id, turn_seq, model, status, stop_reason, error, input)
           ), runs as (
             insert into run (run_id, tenant_id, thread_id, parent_run_id, turn_seq, engine, model, status, stop_reason, error,
                              input, metadata, canonical_state, started_at, settled_at)
             select run_id, $1, $2, parent_run_id, turn_seq, $11, model, status, stop_reason, error::jsonb,
                    input, '{"imported": true}', 'pending', now(), now()
               from imported
           ), lanes as (
             insert into lane (run_id, thread_id, digest, state) select run_id, $2, $12, $13 from imported
           ), intents as (
             insert into outbox (run_id, thread_id, state, next_attempt_at)
             select run_id, $2, 'pending', now() - interval '1 minute' from imported
           )
           update thread set updated_at = now() where thread_id = $2`,
    values: [
      tenantId,
      threadId,
      runs.map(({ runId }) => runId),
      runs.map(({ parentRunId }) => parentRunId),
      runs.map(({ turnSeq }) => turnSeq),
      runs.map(({ model }) => model),
      runs.map(({ turn }) => turn.ending.status),
      runs.map(({ turn }) => turn.ending.stopReason),
      runs.map(({ turn }) => ('error' in turn.ending ? JSON.stringify(turn.ending.error) : null)),
      runs.map(({ turn }) => JSON.stringify(inputTextOf(turn))),
      BUILTIN_ENGINE,
      EMPTY_DIGEST,
      INITIAL_STATE_TEXT,
    ],
  });
  if (idempotency === null) return;
  await client.query({
    name: 'import-command',
    text: `insert into command (command_id, tenant_id, kind, idempotency_key, fingerprint, run_id, thread_id, state)
           values ($1, $2, 'run.create', $3, $4, $5, $6, 'completed')`,
    values: [newId('command'), tenantId, idempotency.key, idempotency.fingerprint, runs[0]?.runId, threadId],
  });
}

/** The steps and the messages of imported runs. */
export async function insertImportedSteps(client: Queryable, runs: readonly ImportedRun[]): Promise<void> {
  const steps = runs.flatMap(({ runId, steps: ofRun }) => ofRun.map((step) => ({ runId, ...step })));
  for (const some of inBatches(steps, ROWS_PER_STATEMENT)) await insertSteps(client, some);
  for (const some of inBatches(runs.flatMap(messagesOf), ROWS_PER_STATEMENT)) await insertMessages(client, some);
}

async function insertSteps(
  client: Queryable,
  steps: readonly (ImportedRun['steps'][number] & { runId: string })[],
): Promise<void> {
  await client.query({
    name: 'import-steps',
    text: `insert into step (run_id, step_index, kind, label, status, content_hash, result, ended_at)
           select *, '{}', now() from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    values: [
      steps.map(({ runId }) => runId),
      steps.map(({ stepIndex }) => stepIndex),
      steps.map(({ kind }) => kind),
      steps.map(({ label }) => label),
      steps.map(({ status }) => status),
      steps.map(({ contentHash }) => contentHash),
    ],
  });
}

interface MessageRow {
  readonly runId: string;
  readonly index: number;
  readonly stepIndex: number | null;
  readonly message: Message;
}

async function insertMessages(client: Queryable, messages: readonly MessageRow[]): Promise<void> {
  await client.query({
    name: 'import-messages',
    text: `insert into message (run_id, message_index, step_index, role, tool_call_id, body)
           select * from unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::text[], $6::text[])`,
    values: [
      messages.map(({ runId }) => runId),
      messages.map(({ index }) => index),
      messages.map(({ stepIndex }) => stepIndex),
      messages.map(({ message }) => message.role),
      messages.map(({ message }) => (message.role === 'tool-result' ? message.toolCallId : null)),
      messages.map(({ message }) => JSON.stringify(message)),
    ],
  });
}

function messagesOf({ runId, turn, steps }: ImportedRun): MessageRow[] {
  const first = { stepIndex: null, message: turn.input };
  return [first, ...steps].map(({ stepIndex, message }, index) => ({ runId, index, stepIndex, message }));
}

export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  return batches;
}

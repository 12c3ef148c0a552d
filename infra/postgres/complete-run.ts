import type pg from 'pg';
import type { CompletionRecord, SaidEvent } from '../../contract/sealed-translation.ts';
import { notifyThreads } from './lane-rows.ts';
import { lockThreadOfRun } from './run.ts';
import { inTransaction, type Queryable } from './transaction.ts';
import { readWatermark, type Watermark } from './outbox.ts';

export type Completion = 'complete' | 'claim-lost' | 'watermark-moved';

/**
 * Writes the revisions that make the log true, the completion record and the end of the intent, in one transaction, if and
 * only if the claim still holds and the watermark has not moved (design, invariant 6).
 */
export async function completeRun(
  pool: pg.Pool,
  completion: {
    runId: string;
    threadId: string;
    claim: number;
    watermark: Watermark;
    revisions: readonly SaidEvent[];
    record: CompletionRecord;
  },
): Promise<Completion> {
  const { runId, threadId, claim, watermark, revisions, record } = completion;
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    if (!(await holdsClaim(client, runId, claim))) return 'claim-lost';
    const now = await readWatermark(client, runId);
    const held =
      now.frameSeq === watermark.frameSeq &&
      now.frameDigest === watermark.frameDigest &&
      now.stepSignature === watermark.stepSignature;
    if (!held) return 'watermark-moved';
    await writeTruth(client, { runId, threadId, revisions, record });
    await client.query({
      name: 'outbox-complete',
      text: `with done as (
               update outbox set state = $2, lease_until = null, completed_at = now() where run_id = $1
             )
             update run set canonical_state = $2 where run_id = $1`,
      values: [runId, record.status],
    });
    await notifyThreads(client, [threadId]);
    return 'complete';
  });
}

async function holdsClaim(client: Queryable, runId: string, claim: number): Promise<boolean> {
  const { rows } = await client.query<{ claim: number }>({
    name: 'outbox-hold',
    text: `select claim from outbox where run_id = $1 and state = 'translating' for update`,
    values: [runId],
  });
  return rows[0]?.claim === claim;
}

async function writeTruth(
  client: Queryable,
  truth: { runId: string; threadId: string; revisions: readonly SaidEvent[]; record: CompletionRecord },
): Promise<void> {
  const { runId, threadId, revisions, record } = truth;
  await client.query({
    name: 'delivery-truth',
    text: `with head as (
             update thread set head_seq = head_seq + $3 where thread_id = $1 returning head_seq - $3 as base
           ), events as (
             insert into delivery (thread_id, delivery_seq, run_id, step_index, record, event_id, seq, revision, kind,
                                   retracted, body)
             select $1, head.base + e.ordinal, $2, e.step_index, 'event', e.event_id, e.seq, e.revision, e.kind,
                    e.retracted, e.body
               from head, unnest($4::int[], $5::text[], $6::bigint[], $7::int[], $8::text[], $9::boolean[], $10::text[])
                          with ordinality as e (step_index, event_id, seq, revision, kind, retracted, body, ordinal)
           )
           insert into delivery (thread_id, delivery_seq, run_id, record, event_id, seq, revision, kind, body)
           select $1, head.base + $3, $2, 'complete', $2 || ':complete',
                  (select next_event_seq from lane where run_id = $2), 0, 'canonical.complete', $11
             from head`,
    values: [
      threadId,
      runId,
      revisions.length + 1,
      revisions.map((revision) => revision.stepIndex),
      revisions.map((revision) => revision.event.eventId),
      revisions.map((revision) => revision.event.seq),
      revisions.map((revision) => revision.revision),
      revisions.map((revision) => revision.event.kind),
      revisions.map((revision) => revision.retracted),
      revisions.map((revision) => JSON.stringify(revision.event)),
      JSON.stringify(record),
    ],
  });
}

/** The completion record of a run, or null while it is not complete. */
export async function findCompletion(db: Queryable, runId: string): Promise<CompletionRecord | null> {
  const { rows } = await db.query<{ body: string }>({
    name: 'delivery-completion',
    text: `select body from delivery where run_id = $1 and record = 'complete'`,
    values: [runId],
  });
  return rows[0] === undefined ? null : (JSON.parse(rows[0].body) as CompletionRecord);
}

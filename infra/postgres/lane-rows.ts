import type { LaneWrite } from './lane-segment.ts';
import type { Queryable } from './transaction.ts';

export interface LaneRow {
  readonly run_id: string;
  readonly thread_id: string;
  readonly head_seq: number;
  readonly last_seq: number;
  readonly digest: string;
  readonly next_event_seq: number;
  readonly state: string;
  readonly open_steps: Record<string, number>;
  readonly sealed: boolean;
}

/** The channel on which the ids of threads with new deliveries are sent, as a JSON array (ids only, design §6). */
export const DELIVERY_CHANNEL = 'tidemark_delivery';

/** A NOTIFY holds less than 8,000 bytes: so many thread ids fit into one. */
const THREADS_PER_NOTIFY = 150;

/** Locks lanes and their threads, threads in id order, and reads what they hold after the locks were granted. */
export async function lockLanes(client: Queryable, runIds: readonly string[]): Promise<Map<string, LaneRow>> {
  const { rows } = await client.query<LaneRow>({
    name: 'lane-lock',
    text: `select l.run_id, l.thread_id, t.head_seq, l.last_seq, l.digest, l.next_event_seq, l.state, l.open_steps,
                  l.sealed_at is not null as sealed
             from thread t
             join lane l using (thread_id)
            where l.run_id = any($1)
            order by t.thread_id, l.run_id
              for no key update`,
    values: [runIds],
  });
  return new Map(rows.map((row) => [row.run_id, row]));
}

/** Writes all that changed in one statement and wakes the readers of the threads when it commits. */
export async function writeLanes(
  client: Queryable,
  writes: readonly LaneWrite[],
  heads: Map<string, number>,
): Promise<void> {
  const segments = writes.flatMap((write) => write.segments.map((segment) => ({ runId: write.runId, ...segment })));
  const deliveries = writes.flatMap((write) =>
    write.deliveries.map((delivery) => ({ threadId: write.threadId, ...delivery })),
  );
  const woken = [...new Set(deliveries.map(({ threadId }) => threadId))];
  await client.query({
    name: 'lane-write',
    text: `with frames as (
             insert into frame (run_id, first_seq, last_seq, provider, step_index, attempt, payload)
             select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::int[], $6::int[],
                                  string_to_array($7, chr(30)))
           ), deliveries as (
             insert into delivery (thread_id, delivery_seq, run_id, step_index, record, event_id, seq, revision, kind,
                                   retracted, body)
             select thread_id, delivery_seq, run_id, step_index, 'event', event_id, seq, revision, kind, retracted, body
               from unnest($8::text[], $9::bigint[], $10::text[], $11::int[],
                           $12::text[], $13::bigint[], $14::int[], $15::text[],
                           $16::boolean[], string_to_array($17, chr(30)))
                 as d (thread_id, delivery_seq, run_id, step_index, event_id, seq, revision, kind, retracted, body)
           ), heads as (
             update thread t
                set head_seq = h.head_seq
               from unnest($18::text[], $19::bigint[]) as h (thread_id, head_seq)
              where t.thread_id = h.thread_id and t.head_seq <> h.head_seq
           ), lanes as (
             update lane l
                set last_seq = w.last_seq, digest = w.digest, next_event_seq = w.next_event_seq, state = w.state,
                    open_steps = w.open_steps::jsonb, refused_count = l.refused_count + w.refused,
                    sealed_at = case when w.sealed then coalesce(l.sealed_at, now()) end
               from unnest($20::text[], $21::bigint[], $22::text[], $23::bigint[], string_to_array($24, chr(30)),
                           string_to_array($25, chr(30)), $26::int[], $27::boolean[])
                 as w (run_id, last_seq, digest, next_event_seq, state, open_steps, refused, sealed)
              where l.run_id = w.run_id
           )
           select pg_notify($28, payload) from unnest($29::text[]) as wake_up (payload)`,
    values: [
      segments.map((s) => s.runId),
      segments.map((s) => s.firstSeq),
      segments.map((s) => s.lastSeq),
      segments.map((s) => s.provider),
      segments.map((s) => s.stepIndex),
      segments.map((s) => s.attempt),
      together(segments.map((s) => s.payload)),
      deliveries.map((d) => d.threadId),
      deliveries.map((d) => d.deliverySeq),
      deliveries.map((d) => d.runId),
      deliveries.map((d) => d.stepIndex),
      deliveries.map((d) => d.event.eventId),
      deliveries.map((d) => d.event.seq),
      deliveries.map((d) => d.revision),
      deliveries.map((d) => d.event.kind),
      deliveries.map((d) => d.retracted),
      together(deliveries.map((d) => JSON.stringify(d.event))),
      [...heads.keys()],
      [...heads.values()],
      writes.map((w) => w.runId),
      writes.map((w) => w.lastSeq),
      writes.map((w) => w.digest),
      writes.map((w) => w.nextEventSeq),
      together(writes.map((w) => w.state)),
      together(writes.map((w) => JSON.stringify(w.openSteps))),
      writes.map((w) => w.refused),
      writes.map((w) => w.sealed),
      DELIVERY_CHANNEL,
      payloadsOf(woken),
    ],
  });
}

/**
 * JSON texts as one parameter, apart by U+001E, which JSON text never holds: neither end escapes and unescapes every quote,
 * as it does in an array. Not for ids: an engine may put anything into those.
 */
function together(texts: readonly string[]): string {
  return texts.join('\u001e');
}

function payloadsOf(threadIds: readonly string[]): string[] {
  const count = Math.ceil(threadIds.length / THREADS_PER_NOTIFY);
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify(threadIds.slice(i * THREADS_PER_NOTIFY, (i + 1) * THREADS_PER_NOTIFY)),
  );
}

/** Tells every gateway that a thread is gone, when this transaction commits; one that is not told finds out by its poll. */
export async function notifyGone(client: Queryable, threadId: string): Promise<void> {
  const payload = JSON.stringify({ gone: [threadId] });
  await client.query({ name: 'notify', text: 'select pg_notify($1, $2)', values: [DELIVERY_CHANNEL, payload] });
}

/** One coalesced wake-up for the threads of a transaction; sent by the server when, and only if, it commits. */
export async function notifyThreads(client: Queryable, threadIds: readonly string[]): Promise<void> {
  for (let i = 0; i < threadIds.length; i += THREADS_PER_NOTIFY) {
    const payload = JSON.stringify(threadIds.slice(i, i + THREADS_PER_NOTIFY));
    await client.query({ name: 'notify', text: 'select pg_notify($1, $2)', values: [DELIVERY_CHANNEL, payload] });
  }
}

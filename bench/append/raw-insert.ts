import type { Pool } from '../../infra/postgres/pool.ts';
import type { OpenRun } from '../runs.ts';

/** A delivery row as the committer wrote it, and the frame that it came from. */
interface Row {
  readonly run_id: string;
  readonly step_index: number;
  readonly event_id: string;
  readonly kind: string;
  readonly body: string;
  readonly payload: string;
}

/** Which of the rows that an append stores. */
export type Rows = 'deliveries' | 'deliveries and frames';

/**
 * The floor under every way to write: rows like those that the committer stored, in one multi-row INSERT after the other over
 * one connection. No lanes, no locks, no wake-ups, nothing translated or encoded.
 */
export class RawInsert {
  readonly #pool: Pool;
  readonly #threads: readonly OpenRun[];
  #rows: readonly Row[] = [];
  #next = 0;

  constructor(pool: Pool, threads: readonly OpenRun[]) {
    this.#pool = pool;
    this.#threads = threads;
  }

  /** Takes what these runs have stored as the pattern. */
  async learn(runs: readonly OpenRun[]): Promise<void> {
    const { rows } = await this.#pool.query<Row>(
      `select d.run_id, d.step_index, d.event_id, d.kind, d.body, f.payload
         from delivery d
         join frame f on f.run_id = d.run_id and f.first_seq = (d.body::jsonb #>> '{identity,nativeSeq}')::bigint
        where d.run_id = any($1) and d.kind in ('message.delta', 'reasoning.delta')
        limit 1000`,
      [runs.map(({ lane }) => lane.runId)],
    );
    this.#rows = rows;
  }

  /** Inserts batches for a while; events a second. */
  async round(which: Rows, batch: number, forMs: number): Promise<number> {
    const size = Math.max(1, Math.round(batch));
    const client = await this.#pool.connect();
    try {
      const startedAt = performance.now();
      let inserted = 0;
      while (performance.now() - startedAt < forMs) {
        await client.query({ name: `bench-raw ${which}`, text: INSERT[which], values: this.#values(which, size) });
        inserted += size;
      }
      return inserted / ((performance.now() - startedAt) / 1_000);
    } finally {
      client.release();
    }
  }

  /** The next rows, spread over as many threads as the committer's were. */
  #values(which: Rows, size: number): unknown[] {
    const rows: Row[] = [];
    const threads: OpenRun[] = [];
    const seqs: number[] = [];
    for (let i = 0; i < size; i++, this.#next++) {
      rows.push(this.#rows[this.#next % this.#rows.length] as Row);
      threads.push(this.#threads[this.#next % this.#threads.length] as OpenRun);
      seqs.push(FIRST_SEQ + this.#next);
    }
    const column = (name: keyof Row): unknown[] => rows.map((row) => row[name]);
    return [
      threads.map(({ threadId }) => threadId),
      seqs,
      threads.map(({ lane }) => lane.runId),
      column('step_index'),
      column('event_id'),
      column('kind'),
      column('body'),
      ...(which === 'deliveries' ? [] : [column('payload')]),
    ];
  }
}

/** Above every delivery and every frame that an open run has already. */
const FIRST_SEQ = 1_000_000;

const DELIVERIES = `
  insert into delivery (thread_id, delivery_seq, run_id, step_index, record, event_id, seq, revision, kind, retracted, body)
  select thread_id, delivery_seq, run_id, step_index, 'event', event_id, delivery_seq, 0, kind, false, body
    from unnest($1::text[], $2::bigint[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[])
      as d (thread_id, delivery_seq, run_id, step_index, event_id, kind, body)`;

const INSERT: Readonly<Record<Rows, string>> = {
  deliveries: DELIVERIES,
  'deliveries and frames': `
  with frames as (
    insert into frame (run_id, first_seq, last_seq, provider, step_index, attempt, payload)
    select run_id, seq, seq, 'builtin', step_index, 1, payload
      from unnest($3::text[], $2::bigint[], $4::int[], $8::text[]) as f (run_id, seq, step_index, payload)
  )${DELIVERIES}`,
};

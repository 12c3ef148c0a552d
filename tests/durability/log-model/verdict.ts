import { expect } from 'vitest';
import { translateBuiltinFrame } from '../../../activities/engines/builtin/translate.ts';
import { verifyRun } from '../../../api/verify-run.ts';
import { SealedTranslation } from '../../../contract/sealed-translation.ts';
import { foldedEventsOfRun, type DeliveryRow } from '../../../infra/postgres/delivery.ts';
import { segmentsOf } from '../../../infra/postgres/frame.ts';
import type { Pool } from '../../../infra/postgres/pool.ts';
import { readRun } from '../../../infra/postgres/run.ts';
import { sequence } from '../../fixtures/sse-client.ts';
import { deliveriesAfter } from '../../fixtures/threads.ts';
import type { LogReader } from './log-reader.ts';
import type { RunActor } from './run-actor.ts';

/** What one who only polled `delivery_seq > N` while all wrote has seen is the log, dense and whole. */
export async function expectNothingMissed(pool: Pool, reader: LogReader): Promise<void> {
  const stored = await deliveriesAfter(pool, reader.threadId, 0, 1e6);
  expect(stored.map((row) => row.delivery_seq)).toEqual(sequence(stored.length));
  expect(reader.rows).toEqual(stored);
  expectAppendOnly(stored);
}

/** Each event begins at revision 0, counts up by one, and stays in its place. */
function expectAppendOnly(rows: readonly DeliveryRow[]): void {
  const latest = new Map<string, { revision: number; seq: number }>();
  for (const { record, revision, retracted, body } of rows) {
    if (record !== 'event') continue;
    const { eventId, seq } = JSON.parse(body) as { eventId: string; seq: number };
    const before = latest.get(eventId);
    expect(revision, eventId).toBe((before?.revision ?? -1) + 1);
    if (before === undefined) expect(retracted, `${eventId} is withdrawn before it was said`).toBe(false);
    else expect(seq, `${eventId} has moved`).toBe(before.seq);
    latest.set(eventId, { revision, seq });
  }
}

/**
 * A run's log is what its frames say and what its actor knows. It is so from the moment of its end: the proof finds nothing to
 * correct.
 */
export async function expectRunTold(pool: Pool, { runId, threadId, words }: RunActor): Promise<void> {
  const folded = await foldedEventsOfRun(pool, runId);
  const truth = new SealedTranslation({ runId, threadId }, translateBuiltinFrame);
  for await (const segment of segmentsOf(pool, runId)) truth.add(segment);
  const held = folded.map(({ event, stepIndex, retracted }) => ({ event, stepIndex, retracted }));
  expect(held).toEqual([...truth.events.values()].toSorted((a, b) => a.event.seq - b.event.seq));
  for (const [step, ofStep] of words) {
    const said = folded.flatMap(({ event, stepIndex, retracted }) =>
      event.kind === 'message.delta' && stepIndex === step && !retracted ? [event.text] : [],
    );
    expect(said.join(''), `step ${String(step)} of ${runId}`).toBe(ofStep.join(''));
  }
  const ends = folded.filter(({ event, retracted }) => event.kind === 'turn.completed' && !retracted);
  expect(ends).toHaveLength(1);
}

/** Each refusal was counted, the run is proven once, and its proof holds. */
export async function expectRunProven(pool: Pool, { runId, refusals }: RunActor): Promise<void> {
  const { rows } = await pool.query<{ refused: number; proofs: number }>(
    `select refused_count as refused,
            (select count(*) from delivery d where d.run_id = l.run_id and record = 'complete') as proofs
       from lane l
      where run_id = $1`,
    [runId],
  );
  expect(rows, runId).toEqual([{ refused: refusals, proofs: 1 }]);
  expect(await verifyRun(pool, await readRun(pool, runId))).toMatchObject({ holds: true });
}

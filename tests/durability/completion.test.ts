import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertCaptureLoss } from '../../infra/postgres/capture-loss.ts';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { createCanonicalize } from '../../activities/canonicalize.ts';
import { translateBuiltinFrame } from '../../activities/engines/builtin/translate.ts';
import { completeRun, findCompletion } from '../../infra/postgres/complete-run.ts';
import { readRun } from '../../infra/postgres/run.ts';
import { foldedEventsOfRun } from '../../infra/postgres/delivery.ts';
import { deliveriesAfter } from '../fixtures/threads.ts';
import { claimIntent, intentState, readWatermark } from '../../infra/postgres/outbox.ts';
import { endStep, openStep } from '../../infra/postgres/step.ts';
import { settleRun } from '../../infra/postgres/turn.ts';
import { digestOfEvents } from '../../infra/run-digest.ts';
import { acceptedRun, committerOf, silent, writerOf } from '../fixtures/runs.ts';

let db: TestDatabase;
let canonicalize: ReturnType<typeof createCanonicalize>;

beforeAll(async () => {
  db = await createTestDatabase();
  canonicalize = createCanonicalize({ pool: db.pool, log: silent } as Parameters<typeof createCanonicalize>[0]);
});
afterAll(async () => {
  await db?.drop();
});

/** A settled run that said two things. */
async function settledRun(): Promise<{ runId: string; threadId: string }> {
  const { run_id: runId, thread_id: threadId } = await acceptedRun(db.pool);
  const opened = await openStep(db.pool, { runId, stepIndex: 0, kind: 'model', label: 'm' });
  if (opened.state !== 'opened') throw new Error('not opened');
  const writer = writerOf(committerOf(db.pool), runId, opened.writer);
  writer.emit({ type: 'text-delta', contentIndex: 0, delta: 'one' });
  await writer.drain();
  writer.emit({ type: 'text-delta', contentIndex: 1, delta: 'two' });
  await writer.drain();
  await endStep(db.pool, {
    runId,
    writer: opened.writer,
    status: 'completed',
    provider: 'builtin',
    translate: translateBuiltinFrame,
    frames: [],
    messages: [],
    result: '{}',
    contentHash: 'h',
  });
  await settleRun(db.pool, runId, { status: 'completed', stopReason: 'stop' });
  return { runId, threadId };
}

describe('completion', () => {
  it('is owed from the moment of the settlement: status and intent are one commit', async () => {
    const { runId } = await settledRun();
    expect(await intentState(db.pool, runId)).toBe('pending');
    const { rows } = await db.pool.query(
      `select count(*) as n from run r left join outbox o using (run_id) where settled_at is not null and o.run_id is null`,
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('is proven by a digest that anyone can compute from the log, and needs no revision where the log was right', async () => {
    const { runId, threadId } = await settledRun();
    expect(await canonicalize(runId)).toBe(true);
    const record = await findCompletion(db.pool, runId);
    expect(record).toMatchObject({
      status: 'complete',
      ...(await digestOfEvents(await foldedEventsOfRun(db.pool, runId))),
    });
    const rows = await deliveriesAfter(db.pool, threadId, 0, 100);
    expect(rows.every(({ revision }) => revision === 0)).toBe(true);
    expect(rows.at(-1)?.record).toBe('complete');
    expect(await canonicalize(runId)).toBe(true);
    expect(await deliveriesAfter(db.pool, threadId, 0, 100)).toHaveLength(rows.length);
  });

  it('is degraded, and says so, where something that the engine said could not be kept', async () => {
    const { runId, threadId } = await settledRun();
    await insertCaptureLoss(db.pool, runId, [{ stepIndex: 0, frames: 3, reason: 'the database refused it' }]);
    expect(await canonicalize(runId)).toBe(true);
    expect(await findCompletion(db.pool, runId)).toMatchObject({ status: 'complete_degraded', runId });
    expect((await readRun(db.pool, runId)).canonical_state).toBe('complete_degraded');
    expect(await intentState(db.pool, runId)).toBe('complete_degraded');
    expect((await deliveriesAfter(db.pool, threadId, 0, 100)).at(-1)?.record).toBe('complete');
  });

  it('revises what was delivered wrong, adds what was not delivered and retracts what is not true', async () => {
    const { runId, threadId } = await settledRun();
    const before = await foldedEventsOfRun(db.pool, runId);
    const first = before.find(({ event }) => event.kind === 'message.delta')?.event.eventId ?? '';
    await db.pool.query(
      `update delivery set body = replace(body, '"text":"one"', '"text":"lie"') where event_id = $1`,
      [first],
    );
    await db.pool.query(`delete from delivery where run_id = $1 and kind = 'message.completed'`, [runId]);
    await db.pool.query(
      `insert into delivery (thread_id, delivery_seq, run_id, record, event_id, seq, revision, kind, body)
       select thread_id, 1000, run_id, 'event', 'invented', 500, 0, kind, replace(body, event_id, 'invented')
         from delivery where event_id = $1`,
      [first],
    );
    await db.pool.query('update thread set head_seq = 1000 where thread_id = $1', [threadId]);
    await canonicalize(runId);
    const after = (await foldedEventsOfRun(db.pool, runId)).filter(({ retracted }) => !retracted);
    expect(after.map(({ event }) => event)).toEqual(before.map(({ event }) => event));
    const rows = (await deliveriesAfter(db.pool, threadId, 1000, 100)).map(({ kind, revision, retracted }) => ({
      kind,
      revision,
      retracted,
    }));
    expect(rows).toContainEqual({ kind: 'message.delta', revision: 1, retracted: false });
    expect(rows).toContainEqual({ kind: 'message.completed', revision: 0, retracted: false });
    expect(rows).toContainEqual({ kind: 'message.delta', revision: 1, retracted: true });
    expect(rows.at(-1)).toMatchObject({ kind: 'canonical.complete' });
  });

  it('is refused when a stored frame is not what was sealed', async () => {
    const { runId } = await settledRun();
    await db.pool.query(`update frame set payload = replace(payload, 'two', 'tow') where run_id = $1`, [runId]);
    await expect(canonicalize(runId)).rejects.toThrow('digest');
    expect(await findCompletion(db.pool, runId)).toBeNull();
    const { rows } = await db.pool.query('select state, attempt_count, last_error from outbox where run_id = $1', [
      runId,
    ]);
    expect(rows).toMatchObject([{ state: 'pending', attempt_count: 1 }]);
  });

  it('is refused when a step is rewritten in place while the run is translated', async () => {
    const { runId, threadId } = await settledRun();
    const claim = await claimIntent(db.pool, runId);
    const watermark = await readWatermark(db.pool, runId);
    await db.pool.query(`update step set content_hash = 'other' where run_id = $1`, [runId]);
    const record = { runId, status: 'complete', watermark, digest: 'd', events: 0 } as const;
    const attempt = { runId, threadId, claim: claim?.claim ?? 0, watermark, revisions: [], record };
    expect(await completeRun(db.pool, attempt)).toBe('watermark-moved');
    expect(await findCompletion(db.pool, runId)).toBeNull();
  });

  it('is refused to a worker whose claim was taken over, and is written once when two try', async () => {
    const { runId, threadId } = await settledRun();
    const old = await claimIntent(db.pool, runId);
    expect(await claimIntent(db.pool, runId)).toBeNull();
    await db.pool.query(`update outbox set lease_until = now() - interval '1 second' where run_id = $1`, [runId]);
    expect(await canonicalize(runId)).toBe(true);
    const watermark = await readWatermark(db.pool, runId);
    const record = { runId, status: 'complete', watermark, digest: 'd', events: 0 } as const;
    const late = { runId, threadId, claim: old?.claim ?? 0, watermark, revisions: [], record };
    expect(await completeRun(db.pool, late)).toBe('claim-lost');
    const rows = await deliveriesAfter(db.pool, threadId, 0, 100);
    expect(rows.filter(({ record: kind }) => kind === 'complete')).toHaveLength(1);
  });

  it('dies visibly after eight failures instead of trying for ever', async () => {
    const { runId } = await settledRun();
    await db.pool.query(`update frame set payload = '[]' where run_id = $1`, [runId]);
    for (let i = 0; i < 8; i++) await expect(canonicalize(runId)).rejects.toThrow('digest');
    const { rows } = await db.pool.query(
      'select o.state, r.canonical_state from outbox o join run r using (run_id) where run_id = $1',
      [runId],
    );
    expect(rows).toEqual([{ state: 'dead', canonical_state: 'dead' }]);
  });
});

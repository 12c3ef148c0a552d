import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { translateBuiltinFrame } from '../../activities/engines/builtin/translate.ts';
import { foldedEventsOfRun } from '../../infra/postgres/delivery.ts';
import { deliveriesAfter } from '../fixtures/threads.ts';
import { endStep, openStep, type StepEnd } from '../../infra/postgres/step.ts';
import type { StepWriter } from '../../infra/postgres/lane-append.ts';
import { settleRun } from '../../infra/postgres/turn.ts';
import { acceptedRun, committerOf, writerOf } from '../fixtures/runs.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  await db?.drop();
});

async function open(runId: string, stepIndex = 0): Promise<StepWriter> {
  const opened = await openStep(db.pool, { runId, stepIndex, kind: 'model', label: 'm' });
  if (opened.state !== 'opened') throw new Error(`step is ${opened.state}`);
  return opened.writer;
}

const say = (text: string) => ({ type: 'text-delta', contentIndex: 0, delta: text });

async function settle(runId: string): Promise<void> {
  await settleRun(db.pool, runId, { status: 'completed', stopReason: 'stop' });
}

async function texts(runId: string): Promise<string[]> {
  const events = await foldedEventsOfRun(db.pool, runId);
  return events.flatMap(({ event, retracted }) => (event.kind === 'message.delta' && !retracted ? [event.text] : []));
}

describe('a lane', () => {
  it('refuses the attempt that was fenced, and only that one', async () => {
    const { run_id: runId } = await acceptedRun(db.pool);
    const committer = committerOf(db.pool);
    const first = writerOf(committer, runId, await open(runId));
    first.emit(say('from the first'));
    await first.drain();
    const second = writerOf(committer, runId, await open(runId));
    first.emit(say('from a zombie'));
    second.emit(say('from the second'));
    await expect(first.drain()).rejects.toMatchObject({ code: 'lane_fenced' });
    await second.drain();
    expect(await texts(runId)).toEqual(['from the second']);
    const { rows } = await db.pool.query('select refused_count from lane where run_id = $1', [runId]);
    expect(rows).toEqual([{ refused_count: 1 }]);
  });

  it('lets a fenced attempt neither end its step nor leave a message', async () => {
    const { run_id: runId } = await acceptedRun(db.pool);
    const old = await open(runId);
    await open(runId);
    const end: StepEnd = {
      runId,
      writer: old,
      status: 'completed',
      provider: 'builtin',
      translate: translateBuiltinFrame,
      frames: [],
      messages: [{ role: 'user', content: 'zombie', timestamp: 1 }],
      result: '{}',
      contentHash: '',
    };
    await expect(endStep(db.pool, end)).rejects.toMatchObject({ code: 'lane_fenced' });
    const { rows } = await db.pool.query('select count(*) as n from message where run_id = $1', [runId]);
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('that is sealed refuses its frames without hurting those that are stored with them', async () => {
    const [sealed, live] = [await acceptedRun(db.pool), await acceptedRun(db.pool)];
    const writers = [await open(sealed.run_id), await open(live.run_id)] as const;
    await settle(sealed.run_id);
    const committer = committerOf(db.pool);
    const late = writerOf(committer, sealed.run_id, writers[0]);
    const other = writerOf(committer, live.run_id, writers[1]);
    late.emit(say('too late'));
    other.emit(say('in time'));
    await expect(late.drain()).rejects.toMatchObject({ code: 'lane_sealed' });
    expect(late.refused.aborted).toBe(true);
    await other.drain();
    expect(await texts(live.run_id)).toEqual(['in time']);
    expect(await texts(sealed.run_id)).toEqual([]);
  });

  it('keeps the log dense, whoever writes: 20 runs of five threads, two committers, settlements between', async () => {
    const threads = await Promise.all(Array.from({ length: 5 }, () => acceptedRun(db.pool)));
    const committers = [committerOf(db.pool), committerOf(db.pool)] as const;
    await Promise.all(
      threads.map(async ({ run_id: runId }, t) => {
        const writers = await Promise.all([0, 1, 2, 3].map((step) => open(runId, step)));
        await Promise.all(
          writers.map(async (writer, w) => {
            const lane = writerOf(committers[(t + w) % 2 === 0 ? 0 : 1], runId, writer);
            for (let i = 0; i < 50; i++) {
              lane.emit({ type: 'text-delta', contentIndex: i, delta: `${String(w)}.${String(i)}` });
              if (i % 10 === 0) await lane.drain();
            }
            await lane.drain();
          }),
        );
        await settle(runId);
      }),
    );
    for (const { thread_id: threadId, run_id: runId } of threads) {
      const rows = await deliveriesAfter(db.pool, threadId, 0, 10_000);
      expect(rows.map((row) => row.delivery_seq)).toEqual(rows.map((_, i) => i + 1));
      const seqs = (await foldedEventsOfRun(db.pool, runId)).map(({ event }) => event.seq);
      expect(seqs).toEqual(seqs.map((_, i) => i));
      expect(await texts(runId)).toHaveLength(200);
    }
  });

  it('is settled once: the second settlement changes nothing', async () => {
    const { run_id: runId, thread_id: threadId } = await acceptedRun(db.pool);
    await Promise.all([settle(runId), settle(runId), settle(runId)]);
    await settleRun(db.pool, runId, { status: 'failed', stopReason: 'cancelled' });
    const rows = await deliveriesAfter(db.pool, threadId, 0, 100);
    expect(rows.filter(({ kind }) => kind === 'turn.completed')).toHaveLength(1);
    const { rows: runs } = await db.pool.query('select status, stop_reason from run where run_id = $1', [runId]);
    expect(runs).toEqual([{ status: 'completed', stop_reason: 'stop' }]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplyRetention } from '../../activities/apply-retention.ts';
import { createCanonicalize } from '../../activities/canonicalize.ts';
import { translateBuiltinFrame } from '../../activities/engines/builtin/translate.ts';
import { loadConfig } from '../../infra/config.ts';
import { segmentsAfter, writeReplaySegments } from '../../infra/postgres/replay-segment.ts';
import { endStep, openStep } from '../../infra/postgres/step.ts';
import { settleRun } from '../../infra/postgres/turn.ts';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { startAppGateway, type AppGateway } from '../fixtures/app-gateway.ts';
import { Rest, type Delivery, type Problem } from '../fixtures/rest.ts';
import { acceptedRun, committerOf, silent, writerOf } from '../fixtures/runs.ts';
import { sequence, SseClient } from '../fixtures/sse-client.ts';
import { appendWarnings, createThread } from '../fixtures/threads.ts';

interface Verification {
  readonly holds: boolean | null;
  readonly checked: readonly string[];
  readonly recorded: object | null;
  readonly frames_removed_at: string | null;
  readonly events_removed_at: string | null;
}

/** Small enough to be kept whole. */
const DELTA = 4_000;
const JSON_FORM = { accept: 'application/json' };
const days = (count: number): string => `${String(count)} days`;

let db: TestDatabase;
let gateway: AppGateway;
let rest: Rest;

beforeAll(async () => {
  db = await createTestDatabase();
  gateway = await startAppGateway(db.url);
  rest = new Rest(gateway.url);
});
afterAll(async () => {
  await gateway?.stop();
  await db?.drop();
});

/** A run that said something, settled; proven complete so long ago. */
async function completeRun({
  age,
  threadId = null,
  size = 10,
}: {
  age: number;
  threadId?: string | null;
  size?: number;
}) {
  const { run_id: runId, thread_id: thread } = await settledRun(threadId, size);
  await createCanonicalize({ pool: db.pool, log: silent } as Parameters<typeof createCanonicalize>[0])(runId);
  await makeOld(runId, age);
  return { runId, threadId: thread };
}

async function settledRun(threadId: string | null, size = 10) {
  const run = await acceptedRun(db.pool, { threadId });
  const { run_id: runId } = run;
  const opened = await openStep(db.pool, { runId, stepIndex: 0, kind: 'model', label: 'm' });
  if (opened.state !== 'opened') throw new Error('not opened');
  const writer = writerOf(committerOf(db.pool), runId, opened.writer);
  for (let left = size; left > 0; left -= DELTA) {
    writer.emit({ type: 'text-delta', contentIndex: 0, delta: 'x'.repeat(Math.min(left, DELTA)) });
    await writer.drain();
  }
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
  return run;
}

async function makeOld(runId: string, age: number): Promise<void> {
  await db.pool.query(`update outbox set completed_at = now() - $2::interval where run_id = $1`, [runId, days(age)]);
  await db.pool.query(`update run set settled_at = now() - $2::interval where run_id = $1`, [runId, days(age)]);
}

async function retain(env: { frames?: number; deliveries?: number }): Promise<void> {
  const config = loadConfig({
    TIDEMARK_RETAIN_FRAMES_DAYS: env.frames === undefined ? '' : String(env.frames),
    TIDEMARK_RETAIN_DELIVERIES_DAYS: env.deliveries === undefined ? '' : String(env.deliveries),
  });
  await createApplyRetention({ config, pool: db.pool, log: silent })(new AbortController().signal);
}

const verify = async (runId: string) => (await rest.send<Verification>('GET', `/v1/runs/${runId}/verify`)).body;

async function seqsOf(threadId: string): Promise<number[]> {
  const { rows } = await db.pool.query<{ delivery_seq: number }>(
    'select delivery_seq from delivery where thread_id = $1 order by 1',
    [threadId],
  );
  return rows.map((row) => row.delivery_seq);
}

const headOf = async (threadId: string) =>
  (await rest.send<{ head: number; retained_from: number }>('GET', `/v1/threads/${threadId}`)).body;

function page(threadId: string, query: string) {
  return rest.send<{ deliveries: Delivery[]; next_after: number; head: number } & Problem>(
    'GET',
    `/v1/threads/${threadId}/events?${query}`,
    undefined,
    JSON_FORM,
  );
}

const framesOf = async (runId: string) =>
  (await rest.send<{ data: object[]; frames_removed_at?: string }>('GET', `/v1/runs/${runId}/frames`)).body;

describe('without a policy', () => {
  it('everything is kept for ever', async () => {
    const { runId, threadId } = await completeRun({ age: 10_000 });
    await retain({});
    expect((await framesOf(runId)).data.length).toBeGreaterThan(0);
    expect(await seqsOf(threadId)).toEqual(sequence((await headOf(threadId)).head));
    expect(await verify(runId)).toMatchObject({ holds: true, checked: ['events', 'frames'], frames_removed_at: null });
  });
});

describe('frames', () => {
  it('go when their run is complete for long enough, and the run says so', async () => {
    const old = await completeRun({ age: 8 });
    const young = await completeRun({ age: 6 });
    const unproven = await settledRun(null);
    await db.pool.query(`update run set settled_at = now() - interval '99 days' where run_id = $1`, [unproven.run_id]);
    await retain({ frames: 7 });
    expect(await framesOf(old.runId)).toEqual({ data: [], next_cursor: null, frames_removed_at: expect.any(String) });
    for (const kept of [young.runId, unproven.run_id]) {
      const frames = await framesOf(kept);
      expect(frames.data.length).toBeGreaterThan(0);
      expect(frames).not.toHaveProperty('frames_removed_at');
    }
  });

  it('that are gone leave a proof of the log alone, which still finds a fault', async () => {
    const { runId, threadId } = await completeRun({ age: 8 });
    await retain({ frames: 7 });
    const seen = await verify(runId);
    expect(seen).toMatchObject({ holds: true, checked: ['events'], events_removed_at: null });
    expect(seen.frames_removed_at).not.toBeNull();
    expect(await seqsOf(threadId)).toEqual(sequence((await headOf(threadId)).head));
    await db.pool.query(`update delivery set body = replace(body, 'xxx', 'yyy') where run_id = $1`, [runId]);
    expect(await verify(runId)).toMatchObject({ holds: false, checked: ['events'] });
  });
});

describe('the beginning of a log', () => {
  it('goes as far as its runs are complete for long enough, and no further', async () => {
    const first = await completeRun({ age: 40 });
    const { threadId } = first;
    const second = await completeRun({ age: 35, threadId });
    const end = (await headOf(threadId)).head;
    const third = await completeRun({ age: 20, threadId });
    const fourth = await completeRun({ age: 50, threadId });
    const other = await completeRun({ age: 20 });
    await retain({ deliveries: 30 });
    const { head, retained_from: retainedFrom } = await headOf(threadId);
    expect(retainedFrom).toBe(end + 1);
    expect(await seqsOf(threadId)).toEqual(sequence(head, end + 1));
    for (const { runId } of [first, second]) {
      expect(await verify(runId)).toMatchObject({ holds: null, checked: [], recorded: null });
      const { status, body } = await rest.send('GET', `/v1/runs/${runId}/events`);
      expect([status, body.code]).toEqual([410, 'run_events_expired']);
      expect((await rest.run(runId)).status).toBe('completed');
    }
    for (const { runId } of [third, fourth, other]) expect((await verify(runId)).holds).toBe(true);
    expect(await headOf(other.threadId)).toMatchObject({ retained_from: 1 });
  });

  it('stays while its first run is not proven complete, or shares its place in the log with one that must stay', async () => {
    const dead = await settledRun(null);
    await completeRun({ age: 40, threadId: dead.thread_id });
    const first = await acceptedRun(db.pool);
    const second = await acceptedRun(db.pool, { threadId: first.thread_id });
    await settleRun(db.pool, first.run_id, { status: 'completed', stopReason: 'stop' });
    await createCanonicalize({ pool: db.pool, log: silent } as Parameters<typeof createCanonicalize>[0])(first.run_id);
    await makeOld(first.run_id, 40);
    await retain({ deliveries: 30 });
    for (const threadId of [dead.thread_id, second.thread_id]) {
      const { head, retained_from: retainedFrom } = await headOf(threadId);
      expect(retainedFrom).toBe(1);
      expect(await seqsOf(threadId)).toEqual(sequence(head));
    }
  });

  it('answers 410 to who asks for it, as a stream and as a page, and says where the log begins', async () => {
    const { threadId } = await completeRun({ age: 40 });
    const from = (await headOf(threadId)).head + 1;
    await completeRun({ age: 1, threadId });
    await retain({ deliveries: 30 });
    const { head } = await headOf(threadId);
    for (const query of ['', 'after=0', `after=${String(from - 2)}`]) {
      const { status, body } = await page(threadId, query);
      expect([status, body.code, body['retained_from']]).toEqual([410, 'cursor_expired', from]);
    }
    const url = `${gateway.url}/v1/threads/${threadId}/events`;
    const refused = await SseClient.open(url, { 'last-event-id': '1' });
    expect(refused.status).toBe(410);
    const { body } = await page(threadId, `after=${String(from - 1)}`);
    expect(body.deliveries.map((row) => row.delivery_seq)).toEqual(sequence(head, from));
    expect((await page(threadId, 'from=oldest')).body).toEqual(body);
    expect((await page(threadId, 'from=oldest&after=9')).status).toBe(400);
    expect((await page(threadId, 'from=newest')).status).toBe(400);
    expect((await page(threadId, 'tail=1')).body).toMatchObject({ deliveries: [], next_after: head });
    const stream = await SseClient.open(`${url}?from=oldest`);
    await stream.until((client) => client.named('caught-up').length === 1);
    expect(stream.seqs).toEqual(sequence(head, from));
    expect(stream.frames.find(({ id }) => id !== undefined)).toMatchObject({ id: String(from - 1), event: undefined });
    stream.close();
  });

  it('goes with its replay segments, and what is said later is numbered and replayed without a gap', async () => {
    const { threadId } = await completeRun({ age: 40, size: 4_000 });
    const from = (await headOf(threadId)).head + 1;
    await completeRun({ age: 1, threadId, size: 70_000 });
    const [over] = await segmentsAfter(db.pool, threadId, 0, 1);
    expect(over?.firstSeq).toBe(1);
    expect(over?.lastSeq).toBeGreaterThan(from);
    const whole = (await page(threadId, 'limit=1000')).body.deliveries;
    await retain({ deliveries: 30 });
    expect((await segmentsAfter(db.pool, threadId, from - 1, 10))[0]).toMatchObject({ firstSeq: from });
    const stored = await db.pool.query('select 1 from replay_segment where thread_id = $1 and first_seq < $2', [
      threadId,
      from,
    ]);
    expect(stored.rowCount).toBe(0);
    await completeRun({ age: 0, threadId, size: 70_000 });
    await writeReplaySegments(db.pool, threadId);
    const { head } = await headOf(threadId);
    expect(await seqsOf(threadId)).toEqual(sequence(head, from));
    const stream = await SseClient.open(`${gateway.url}/v1/threads/${threadId}/events?from=oldest`);
    await stream.until((client) => client.named('caught-up').length === 1);
    expect(stream.seqs).toEqual(sequence(head, from));
    stream.close();
    const { body } = await page(threadId, 'from=oldest&limit=1000');
    expect(body.deliveries.slice(0, whole.length - from + 1)).toEqual(whole.slice(from - 1));
  });

  it('may be all of the log: the next event goes on with the numbers, and its segments begin there', async () => {
    const { threadId } = await completeRun({ age: 40, size: 70_000 });
    const { head } = await headOf(threadId);
    await retain({ deliveries: 30 });
    expect(await headOf(threadId)).toMatchObject({ head, retained_from: head + 1 });
    expect((await page(threadId, 'from=oldest')).body).toMatchObject({ deliveries: [], next_after: head, head });
    const stream = await SseClient.open(`${gateway.url}/v1/threads/${threadId}/events?from=oldest`);
    await stream.until((client) => client.named('caught-up').length === 1);
    await completeRun({ age: 0, threadId, size: 70_000 });
    const after = (await headOf(threadId)).head;
    await stream.untilId(after);
    expect(stream.seqs).toEqual(sequence(after, head + 1));
    stream.close();
    expect((await segmentsAfter(db.pool, threadId, head, 1))[0]?.firstSeq).toBe(head + 1);
  });

  it('leaves a replay that it overtakes without a gap: the stream ends, and coming back is 410', async () => {
    const thread = await createThread(db.pool);
    const count = 20_000;
    for (let i = 0; i < count; i += 2_000) await appendWarnings(db.pool, thread, 2_000, { padding: 'x'.repeat(600) });
    await db.pool.query(
      `with run as (
         update run set status = 'completed', settled_at = now(), canonical_state = 'complete' where run_id = $1
       )
       insert into outbox (run_id, thread_id, state) values ($1, $2, 'complete')`,
      [thread.runId, thread.threadId],
    );
    await makeOld(thread.runId, 40);
    const url = `${gateway.url}/v1/threads/${thread.threadId}/events`;
    const stream = await SseClient.open(url);
    await stream.until((client) => client.seqs.length > 0);
    stream.stopReading();
    await retain({ deliveries: 30 });
    stream.response?.resume();
    await stream.untilClosed();
    expect(stream.seqs.length).toBeLessThan(count);
    expect(stream.seqs).toEqual(sequence(stream.seqs.length));
    expect((await SseClient.open(url, { 'last-event-id': stream.lastEventId })).status).toBe(410);
  });

  it('is removed once, by however many workers at a time', async () => {
    const { threadId } = await completeRun({ age: 40 });
    for (let i = 0; i < 5; i++) await completeRun({ age: 39, threadId });
    await Promise.all(Array.from({ length: 4 }, () => retain({ deliveries: 30, frames: 30 })));
    const { head, retained_from: retainedFrom } = await headOf(threadId);
    expect(retainedFrom).toBe(head + 1);
    expect(await seqsOf(threadId)).toEqual([]);
  });
});

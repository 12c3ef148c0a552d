import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/database.ts';
import type { Multitask } from '../../contract/rest.ts';
import { textOf } from '../../contract/agent-messages.ts';
import { acceptRun, type Accepted, type RunIntent } from './accept-run.ts';
import { requestCancel } from './command.ts';
import { conversationOf } from './conversation.ts';
import { clearInputs, countWaiting, listInputs } from './queued-input.ts';
import { readRun } from './run.ts';
import { endStep, openStep } from './step.ts';
import { settleRun, takeTurn } from './turn.ts';
import { saysNothing } from '../../contract/translation.ts';

let db: TestDatabase;
let threadId: string;
let runId: string;
let attempt: number;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  await db?.drop();
});
beforeEach(async () => {
  const { run } = await post('enqueue', 'begin', { threadId: null });
  ({ run_id: runId, thread_id: threadId } = run);
  await takeTurn(db.pool, runId);
});

async function post(multitask: Multitask, input: string, more: Partial<RunIntent> = {}): Promise<Accepted> {
  return await acceptRun(db.pool, {
    tenantId: 'default',
    threadId,
    input,
    engine: 'builtin',
    model: 'scripted/text',
    parentRunId: null,
    multitask,
    settings: {},
    metadata: {},
    idempotencyKey: null,
    fingerprint: input,
    ...more,
  });
}

/** Opens a model step as an attempt does, and gives what the model would see of users. */
async function modelStep(stepIndex: number): Promise<string[]> {
  const opened = await openStep(db.pool, { runId, stepIndex, kind: 'model', label: 'm' });
  if (opened.state === 'opened') ({ attempt } = opened.writer);
  return (await conversationOf(db.pool, runId)).flatMap(({ role, content }) =>
    role === 'user' ? textOf(content) : [],
  );
}

/** Ends a model step as a natural stop, or before tool calls. */
async function end(stepIndex: number, isStop = true): Promise<string> {
  return await endStep(db.pool, {
    runId,
    writer: { stepIndex, attempt },
    status: 'completed',
    provider: 'builtin',
    translate: saysNothing,
    frames: [],
    messages: [],
    result: 'final',
    ...(isStop ? { resultIfInputWaits: 'continue' } : {}),
    contentHash: '',
  });
}

const states = async () =>
  (await listInputs(db.pool, { runId, after: null, limit: 100 })).map(({ text, state, step_index: step }) => [
    JSON.parse(text),
    state,
    step,
  ]);

describe('steering', () => {
  it('is taken at the next model step, one at a time, in the order of acceptance; a repeated step takes nothing more', async () => {
    for (const text of ['one', 'two']) expect((await post('steer', text)).run.run_id).toBe(runId);
    expect(await modelStep(0)).toEqual(['one']);
    expect(await modelStep(0)).toEqual(['one']);
    await end(0, false);
    await openStep(db.pool, { runId, stepIndex: 1, kind: 'tool', label: 't' });
    expect(await countWaiting(db.pool, runId)).toBe(1);
    expect(await modelStep(2)).toEqual(['one', 'two']);
    expect(await states()).toEqual([
      ['one', 'injected', 0],
      ['two', 'injected', 2],
    ]);
  });

  it('goes to the run that will have the turn when none has it yet', async () => {
    const { run } = await post('enqueue', 'new', { threadId: null });
    const steered = await post('steer', 'early', { threadId: run.thread_id });
    expect(steered).toMatchObject({ created: false, run: { run_id: run.run_id, status: 'queued' } });
  });

  it('is a run of its own in a thread where none works, behind one that is cancelled, and after the natural stop', async () => {
    await requestCancel(db.pool, runId);
    expect(await post('steer', 'behind')).toMatchObject({ created: true, queuedInput: null });
    const { run } = await post('enqueue', 'another', { threadId: null });
    ({ run_id: runId, thread_id: threadId } = run);
    await takeTurn(db.pool, runId);
    await modelStep(0);
    expect(await end(0)).toBe('final');
    expect(await post('steer', 'too late')).toMatchObject({ created: true, queuedInput: null });
    await settleRun(db.pool, runId, { status: 'completed', stopReason: 'stop' });
    expect(await post('follow_up', 'later', { threadId: null })).toMatchObject({ created: true });
  });

  it('of a run whose engine has a loop of its own is refused', async () => {
    const { run } = await post('enqueue', 'opaque', { threadId: null, engine: 'codex' });
    await expect(post('steer', 'left', { threadId: run.thread_id })).rejects.toMatchObject({
      code: 'steering_unsupported',
      facts: { active_run_id: run.run_id, engine: 'codex' },
    });
    await requestCancel(db.pool, run.run_id);
    expect(await post('steer', 'left', { threadId: run.thread_id })).toMatchObject({ created: true });
  });

  it('waits in a queue that is bounded', async () => {
    for (let i = 0; i < 100; i++) await post('steer', String(i));
    await expect(post('follow_up', 'one too many')).rejects.toMatchObject({ code: 'input_queue_full' });
    await modelStep(0);
    expect((await post('follow_up', 'there is room')).queuedInput).toMatchObject({ input_index: 100 });
  });
});

describe('a natural stop', () => {
  it('goes on with what waits, steering before follow-ups, one at a time, and then takes no more', async () => {
    await post('follow_up', 'then this');
    await post('follow_up', 'and this');
    expect(await modelStep(0)).toEqual([]);
    await post('steer', 'first this');
    expect([await end(0), await modelStep(1)]).toEqual(['continue', ['first this']]);
    expect([await end(1), await modelStep(2)]).toEqual(['continue', ['first this', 'then this']]);
    expect([await end(2), await modelStep(3)]).toEqual(['continue', ['first this', 'then this', 'and this']]);
    expect(await end(3)).toBe('final');
    expect((await readRun(db.pool, runId)).input_closed_at).not.toBeNull();
  });

  it('keeps its promise: what it goes on with is not cleared, the rest is', async () => {
    await modelStep(0);
    await post('follow_up', 'promised');
    await post('follow_up', 'cleared');
    expect(await end(0)).toBe('continue');
    expect((await clearInputs(db.pool, runId)).map(({ text }) => JSON.parse(text) as string)).toEqual(['cleared']);
    expect(await clearInputs(db.pool, runId)).toEqual([]);
    expect(await modelStep(1)).toEqual(['promised']);
    expect(await end(1)).toBe('final');
  });
});

it('an input that is posted while the run stops is taken by the run or is a run of its own, never neither; 40 times', async () => {
  for (let i = 0; i < 40; i++) {
    const { run } = await post('enqueue', 'begin', { threadId: null });
    ({ run_id: runId, thread_id: threadId } = run);
    await takeTurn(db.pool, runId);
    await modelStep(0);
    const [stop, posted] = await Promise.all([end(0), post(i % 2 === 0 ? 'steer' : 'follow_up', 'meanwhile')]);
    expect(posted.created).toBe(stop === 'final');
    expect(await modelStep(1)).toEqual(stop === 'final' ? [] : ['meanwhile']);
  }
});

it('what waits when a run is cut short is dropped, even what was promised', async () => {
  await modelStep(0);
  await post('follow_up', 'promised');
  await end(0);
  await post('steer', 'waiting');
  await requestCancel(db.pool, runId);
  expect(await openStep(db.pool, { runId, stepIndex: 1, kind: 'model', label: 'm' })).toEqual({ state: 'cancelled' });
  await settleRun(db.pool, runId, { status: 'failed', stopReason: 'cancelled' });
  expect(await states()).toEqual([
    ['promised', 'dropped', 1],
    ['waiting', 'dropped', null],
  ]);
});

describe('an idempotency key', () => {
  const key = () => ({ idempotencyKey: randomUUID(), fingerprint: 'same' });

  it('gives the same input again, whatever became of it, and one only for posts at once', async () => {
    const again = key();
    const posts = await Promise.all(Array.from({ length: 5 }, async () => await post('steer', 'once', again)));
    const ids = new Set(posts.map(({ queuedInput }) => queuedInput?.input_id));
    expect(ids.size).toBe(1);
    await modelStep(0);
    expect((await post('steer', 'once', again)).queuedInput).toMatchObject({ state: 'injected', step_index: 0 });
    expect(await states()).toHaveLength(1);
    await expect(post('steer', 'other', { ...again, fingerprint: 'other' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('of a run is not one of an input, nor the other way round', async () => {
    const own = key();
    const { run } = await post('enqueue', 'run', own);
    expect(await post('enqueue', 'run', own)).toMatchObject({ run: { run_id: run.run_id }, queuedInput: null });
    await expect(post('steer', 'run', { ...own, fingerprint: 'steer' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });
});

describe('interrupt', () => {
  it('asks all that has not ended to stop, in the transaction that makes the new run', async () => {
    const { run: queued } = await post('enqueue', 'waits');
    const { run, created, interrupted } = await post('interrupt', 'now this');
    expect({ created, interrupted }).toEqual({ created: true, interrupted: [runId, queued.run_id] });
    for (const id of interrupted) expect((await readRun(db.pool, id)).cancel_requested_at).not.toBeNull();
    for (const id of interrupted) await settleRun(db.pool, id, { status: 'failed', stopReason: 'cancelled' });
    expect(await takeTurn(db.pool, run.run_id)).toBe('active');
    expect((await readRun(db.pool, run.run_id)).cancel_requested_at).toBeNull();
  });

  it('is an ordinary run where nothing works', async () => {
    expect(await post('interrupt', 'alone', { threadId: null })).toMatchObject({ created: true, interrupted: [] });
  });
});

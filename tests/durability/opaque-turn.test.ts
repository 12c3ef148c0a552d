import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commitAsk, markDelivered, type Asking } from '../../infra/postgres/ask.ts';
import { captureLossesOf } from '../../infra/postgres/capture-loss.ts';
import { requestCancel } from '../../infra/postgres/command.ts';
import { foldedEventsOfRun } from '../../infra/postgres/delivery.ts';
import { findSession, nameSession } from '../../infra/postgres/harness-session.ts';
import { resolveInterrupt } from '../../infra/postgres/interrupt.ts';
import { settleRun } from '../../infra/postgres/turn.ts';
import { markPrompted, openTurnStep, PARKED } from '../../infra/postgres/turn-step.ts';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { acceptedRun, committerOf } from '../fixtures/runs.ts';
import { endTurn, openTurn, type TestTurn } from '../fixtures/turns.ts';
import { stateless } from '../../contract/translation.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  await db?.drop();
});

function asking(turn: TestTurn, request: Partial<Asking['request']> = {}): Asking {
  return {
    runId: turn.run.run_id,
    writer: turn.writer,
    session: turn.session,
    request: {
      kind: 'approval',
      askKey: 'native-ask',
      toolCallId: 'call',
      toolName: 'shell',
      arguments: { command: 'make' },
      schema: null,
      prompt: 'make',
      options: ['approve', 'always', 'reject'],
      ...request,
    },
  };
}

async function kindsOf(runId: string): Promise<string[]> {
  return (await foldedEventsOfRun(db.pool, runId)).map(({ event }) => event.kind);
}

/** An engine whose frames are the events that they want said. */
const translate = stateless((frame) => [{ body: frame['body'] as never }]);

describe('an opaque turn', () => {
  it('whose attempt was lost is fenced, keeps what it said, and goes on as a step of its own', async () => {
    const run = await acceptedRun(db.pool);
    const first = await openTurn(db.pool, run);
    const writer = committerOf(db.pool).writer({
      runId: run.run_id,
      provider: 'acp:test',
      writer: first.writer,
      translate,
    });
    writer.emit({ type: 'x', body: { kind: 'message.delta', messageId: 'm', text: 'from the first' } });
    writer.emit({ type: 'x', body: { kind: 'tool.started', toolCallId: 't', name: 'shell' } });
    await writer.drain();
    await markPrompted(db.pool, run.run_id, first.writer);

    const second = await openTurn(db.pool, run);

    expect(second).toMatchObject({ writer: { stepIndex: 1, attempt: 1 }, earlier: { kind: 'lost', prompted: true } });
    expect(second.session.generation).toBe(first.session.generation + 1);
    writer.emit({ type: 'x', body: { kind: 'message.delta', messageId: 'm', text: 'from a zombie' } });
    await expect(writer.drain()).rejects.toMatchObject({ code: 'lane_fenced' });
    const events = (await foldedEventsOfRun(db.pool, run.run_id)).map(({ event }) => event);
    expect(events.flatMap((event) => (event.kind === 'message.delta' ? [event.text] : []))).toEqual(['from the first']);
    expect(events).toContainEqual(expect.objectContaining({ kind: 'message.completed', messageId: 'm' }));
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'tool.completed',
        toolCallId: 't',
        status: 'error',
        error: expect.stringMatching(/unknown/) as string,
      }),
    );
  });

  it('that was given once is never taken for new, whatever became of the attempts since', async () => {
    const run = await acceptedRun(db.pool);
    const first = await openTurn(db.pool, run);
    await markPrompted(db.pool, run.run_id, first.writer);
    // this one dies while the engine starts
    expect((await openTurn(db.pool, run)).earlier).toEqual({ kind: 'lost', prompted: true });
    expect((await openTurn(db.pool, run)).earlier).toEqual({ kind: 'lost', prompted: true });
  });

  it('lets a fenced attempt neither end the turn nor move the session', async () => {
    const run = await acceptedRun(db.pool);
    const first = await openTurn(db.pool, run);
    const second = await openTurn(db.pool, run, 'native-2');
    await expect(endTurn(db.pool, first)).rejects.toMatchObject({ code: 'lane_fenced' });
    await expect(commitAsk(db.pool, asking(first))).rejects.toMatchObject({ code: 'thread_durability_uncertain' });
    await endTurn(db.pool, second);
    expect(await findSession(db.pool, run.thread_id, 'builtin')).toMatchObject({
      generation: 2,
      revision: 1,
      head_native_session_id: 'native-2',
      head_ref: 'native-2#1',
      durability: 'committed',
    });
  });

  it('has a session without a name until the engine names it, which an attempt that was fenced does in vain', async () => {
    const run = await acceptedRun(db.pool);
    const first = await openTurn(db.pool, run, null);
    const second = await openTurn(db.pool, run, null);
    await nameSession(db.pool, first.session, 'native-1');
    expect(await findSession(db.pool, run.thread_id, 'builtin')).toMatchObject({ native_session_id: null });
    await nameSession(db.pool, second.session, 'native-2');
    await endTurn(db.pool, second);
    expect(await findSession(db.pool, run.thread_id, 'builtin')).toMatchObject({
      native_session_id: 'native-2',
      head_native_session_id: 'native-2',
      durability: 'committed',
    });
  });

  it('that has its end is returned, not opened again; one that was cancelled stays so', async () => {
    const run = await acceptedRun(db.pool);
    await endTurn(db.pool, await openTurn(db.pool, run));
    const again = await openTurnStep(db.pool, { runId: run.run_id, label: 'test' });
    expect(again).toMatchObject({ state: 'done', result: '{"outcome":"completed","stopReason":"end_turn"}' });

    const other = await acceptedRun(db.pool);
    await requestCancel(db.pool, other.run_id);
    expect(await openTurnStep(db.pool, { runId: other.run_id, label: 'test' })).toEqual({ state: 'cancelled' });
  });

  it('whose end nobody knows leaves the head as it was, and the settlement says which head that is', async () => {
    const run = await acceptedRun(db.pool);
    await endTurn(db.pool, await openTurn(db.pool, run, 'native-1'));
    await settleRun(db.pool, run.run_id, { status: 'completed', stopReason: 'end_turn' });
    const next = await acceptedRun(db.pool, { threadId: run.thread_id });
    await endTurn(db.pool, await openTurn(db.pool, next, 'native-9'), { status: 'failed', head: 'uncertain' });
    await settleRun(db.pool, next.run_id, { status: 'failed', stopReason: 'error' });
    expect(await findSession(db.pool, run.thread_id, 'builtin')).toMatchObject({
      native_session_id: 'native-9',
      head_native_session_id: 'native-1',
      revision: 1,
      durability: 'uncertain',
    });
    const said = (await foldedEventsOfRun(db.pool, next.run_id)).map(({ event }) => event);
    expect(said).toContainEqual(
      expect.objectContaining({
        kind: 'session.metadata',
        metadata: expect.objectContaining({ revision: 1, headRef: 'native-1#1' }) as unknown,
      }),
    );
  });

  it('that was neither ended nor parked is uncertain once its run is settled', async () => {
    const run = await acceptedRun(db.pool);
    await openTurn(db.pool, run);
    await settleRun(db.pool, run.run_id, { status: 'failed', stopReason: 'error' });
    expect(await findSession(db.pool, run.thread_id, 'builtin')).toMatchObject({
      durability: 'uncertain',
      revision: 0,
    });
  });

  it('records what could not be kept, and says so', async () => {
    const run = await acceptedRun(db.pool);
    const losses = [{ stepIndex: 0, frames: 2, reason: 'the database refused it' }];
    await endTurn(db.pool, await openTurn(db.pool, run), { losses });
    expect(await captureLossesOf(db.pool, run.run_id)).toMatchObject(
      losses.map(({ frames, reason }) => ({ frames, reason })),
    );
    const said = (await foldedEventsOfRun(db.pool, run.run_id)).map(({ event }) => event);
    expect(said).toContainEqual(expect.objectContaining({ kind: 'harness.warning', code: 'capture_loss' }));
  });
});

describe('a question in the middle of a turn', () => {
  it('is committed with the session state that leads to it, once', async () => {
    const run = await acceptedRun(db.pool);
    const turn = await openTurn(db.pool, run);
    const asked = await commitAsk(db.pool, asking(turn));
    const again = await commitAsk(db.pool, asking(turn));
    expect(again?.interrupt_id).toBe(asked?.interrupt_id);
    expect((await kindsOf(run.run_id)).slice(-2)).toEqual(['approval.requested', 'session.metadata']);
    expect(await findSession(db.pool, run.thread_id, 'builtin')).toMatchObject({
      durability: 'committed',
      revision: 1,
    });
  });

  it('that the engine asks again after it was taken up again has its one answer, given once', async () => {
    const run = await acceptedRun(db.pool);
    const first = await openTurn(db.pool, run);
    const asked = await commitAsk(db.pool, asking(first));
    const interruptId = asked?.interrupt_id ?? '';
    await endTurn(db.pool, first, { result: PARKED, head: 'as it is' });
    await resolveInterrupt(db.pool, { interruptId, decision: { decision: 'approve' }, actor: 'test' });

    const second = await openTurn(db.pool, run);
    expect(second.earlier).toEqual({ kind: 'parked', prompted: true });
    const repeated = await commitAsk(db.pool, asking(second, { askKey: 'another-native-ask', toolCallId: 'call-2' }));
    expect(repeated).toMatchObject({ interrupt_id: interruptId, status: 'approved' });
    expect(await markDelivered(db.pool, { interruptId, session: second.session })).toBe(true);
    expect(await markDelivered(db.pool, { interruptId, session: second.session })).toBe(false);

    const third = await openTurn(db.pool, run);
    const anew = await commitAsk(db.pool, asking(third, { askKey: 'third' }));
    expect(anew).toMatchObject({ status: 'pending' });
    expect(anew?.interrupt_id).not.toBe(interruptId);
  });

  it('about other arguments is asked anew: an answer never applies to what it was not given for', async () => {
    const run = await acceptedRun(db.pool);
    const first = await openTurn(db.pool, run);
    const asked = await commitAsk(db.pool, asking(first));
    await endTurn(db.pool, first, { result: PARKED, head: 'as it is' });
    const interruptId = asked?.interrupt_id ?? '';
    await resolveInterrupt(db.pool, { interruptId, decision: { decision: 'approve' }, actor: 'test' });
    const second = await openTurn(db.pool, run);
    const other = await commitAsk(db.pool, asking(second, { askKey: 'b', arguments: { command: 'rm -rf .' } }));
    expect(other).toMatchObject({ status: 'pending', arguments: '{"command":"rm -rf ."}' });
  });

  it('takes only the options that the engine can carry out', async () => {
    const run = await acceptedRun(db.pool);
    const asked = await commitAsk(db.pool, asking(await openTurn(db.pool, run)));
    const interruptId = asked?.interrupt_id ?? '';
    const edit = { interruptId, decision: { decision: 'edit', edited_args: {} }, actor: 'test' } as const;
    await expect(resolveInterrupt(db.pool, edit)).rejects.toMatchObject({
      code: 'decision_not_allowed',
      facts: { options: ['approve', 'always', 'reject'] },
    });
    const always = await resolveInterrupt(db.pool, { interruptId, decision: { decision: 'always' }, actor: 'test' });
    expect(always.interrupt.status).toBe('approved');
  });

  it('is not asked in a run that is being stopped', async () => {
    const run = await acceptedRun(db.pool);
    const turn = await openTurn(db.pool, run);
    await requestCancel(db.pool, run.run_id);
    expect(await commitAsk(db.pool, asking(turn))).toBeNull();
  });

  it('with fields is held to them, and says them on the stream', async () => {
    const run = await acceptedRun(db.pool);
    const turn = await openTurn(db.pool, run);
    const field = { prompt: 'Which?', options: [{ label: 'red' }, { label: 'blue' }], multiple: false, custom: false };
    const asked = await commitAsk(
      db.pool,
      asking(turn, {
        kind: 'question',
        options: [],
        fields: [
          { ...field, name: 'color', type: 'choice', required: true },
          { ...field, name: 'count', type: 'number', options: [], required: false },
        ],
      }),
    );
    const interruptId = asked?.interrupt_id ?? '';
    const answer = (values: Record<string, string | number>) =>
      resolveInterrupt(db.pool, { interruptId, decision: { values }, actor: 'test' });
    await expect(answer({ color: 'green' })).rejects.toMatchObject({ facts: { field: 'values.color' } });
    await expect(answer({ count: 2 })).rejects.toMatchObject({ facts: { field: 'values.color' } });
    await expect(answer({ color: 'red', shade: 'x' })).rejects.toMatchObject({ facts: { field: 'values.shade' } });
    expect((await answer({ color: 'red', count: 2 })).interrupt.status).toBe('answered');
    const said = (await foldedEventsOfRun(db.pool, run.run_id)).map(({ event }) => event);
    expect(said).toContainEqual(
      expect.objectContaining({
        kind: 'question.requested',
        questions: [
          expect.objectContaining({ header: 'color', options: [{ label: 'red' }, { label: 'blue' }] }) as unknown,
          expect.objectContaining({ header: 'count' }) as unknown,
        ],
      }),
    );
    expect(said).toContainEqual(expect.objectContaining({ kind: 'question.resolved', answer: 'color: red; count: 2' }));
  });
});

describe('a frame that the database refuses', () => {
  it('is noted as lost, and the frames beside it are kept', async () => {
    await db.pool.query(`
      create function refuse_canary() returns trigger language plpgsql as $$
      begin
        if new.payload like '%canary-frame%' then raise exception 'refused'; end if;
        return new;
      end $$;
      create trigger refuse_canary before insert on frame for each row execute function refuse_canary();`);
    const run = await acceptedRun(db.pool);
    const turn = await openTurn(db.pool, run);
    const source = {
      runId: run.run_id,
      provider: 'acp:test',
      writer: turn.writer,
      translate,
      isLossNoted: true,
    } as const;
    const writer = committerOf(db.pool).writer(source);
    for (const text of ['one', 'canary-frame', 'two']) {
      writer.emit({ type: 'x', body: { kind: 'message.delta', messageId: 'm', text } });
    }
    await writer.drain();
    expect(writer.losses()).toEqual([{ stepIndex: 0, frames: 1, reason: 'the database refused it (x)' }]);
    const said = (await foldedEventsOfRun(db.pool, run.run_id)).map(({ event }) => event);
    expect(said.flatMap((event) => (event.kind === 'message.delta' ? [event.text] : []))).toEqual(['one', 'two']);
  });
});

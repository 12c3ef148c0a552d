import { describe, expect, it } from 'vitest';
import { fc } from '../../contract/property-testkit.ts';
import type { Message } from '../../contract/agent-messages.ts';
import { readSessionLine } from '../../contract/session-jsonl.ts';
import {
  assistantSays,
  conversation,
  entriesOf,
  fileOf,
  toolCall,
  toolSays,
  userSays,
} from '../../contract/session-testkit.ts';
import { conversationOf } from '../../infra/postgres/conversation.ts';
import { kindsOf, textOf, type Answer, type Problem, type Run } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld({ gateways: 2 });

interface Thread {
  readonly thread_id: string;
  readonly head: number;
}

async function importFile(
  file: string,
  headers: Record<string, string> = {},
  query = '',
): Promise<Answer<Thread & Problem>> {
  const sent = { 'content-type': 'application/x-ndjson', ...headers };
  return await world.rest.send<Thread & Problem>('POST', `/v1/threads/import${query}`, file, sent);
}

async function exportFile(
  threadId: string,
  query = '',
): Promise<{ status: number; headers: Headers; messages: Message[] }> {
  const res = await fetch(`${world.other.url}/v1/threads/${threadId}/session.jsonl${query}`);
  const lines = (await res.text()).split('\n').filter((line) => line !== '');
  const messages = lines.flatMap((text): Message[] => {
    const read = readSessionLine(text);
    return read.ok && read.line.type === 'message' ? [read.line.message] : [];
  });
  return { status: res.status, headers: res.headers, messages };
}

async function runsOf(threadId: string): Promise<Run[]> {
  const { body } = await world.rest.send<{ data: Run[] }>('GET', `/v1/threads/${threadId}/runs?limit=200`);
  return body.data.toReversed();
}

const talk = [
  userSays('What is in there?'),
  assistantSays([{ type: 'thinking', thinking: 'I look.' }, { type: 'text', text: 'A moment.' }, toolCall('call-a')], {
    stopReason: 'tool-use',
    usage: { input: 10, output: 3 },
  }),
  toolSays('call-a', `a.txt ${'x'.repeat(3_000)}`),
  assistantSays('One file. ñ 你好 🌍', { provider: 'openai', model: 'scripted', usage: { input: 20, output: 5 } }),
  userSays('Thank you'),
  assistantSays('Gladly'),
];

describe('a session file that is imported', () => {
  it('is a thread of settled runs that are proven complete and read in every encoding', async () => {
    const { status, headers, body } = await importFile(fileOf(entriesOf(talk)));
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/threads/${body.thread_id}`);
    const runs = await runsOf(body.thread_id);
    expect(runs.map(({ status: state, stop_reason }) => [state, stop_reason])).toEqual([
      ['completed', 'stop'],
      ['completed', 'stop'],
    ]);
    expect(runs[1]?.parent_run_id).toBe(runs[0]?.run_id);
    const first = await world.rest.settled(runs[0]?.run_id ?? '');
    expect(first.canonical_state).toBe('complete');
    const events = await world.rest.events(first);
    expect(kindsOf(events)).toEqual([
      'turn.started',
      'session.started',
      'reasoning.delta',
      'reasoning.completed',
      'message.started',
      'message.delta',
      'message.completed',
      'tool.started',
      'usage.updated',
      'tool.completed',
      'message.started',
      'message.delta',
      'message.completed',
      'usage.updated',
      'session.metadata',
      'turn.completed',
    ]);
    expect(textOf(events)).toBe('A moment.One file. ñ 你好 🌍');
    expect(events.every(({ revision }) => revision === 0)).toBe(true);
    expect(events.find(({ kind }) => kind === 'message.delta')?.['ts']).toBe(2_000);
    expect(events.findLast(({ kind }) => kind === 'usage.updated')).toMatchObject({ inputTokens: 30, outputTokens: 8 });
    const proof = await world.rest.send<{ holds: boolean }>('GET', `/v1/runs/${first.run_id}/verify`);
    expect(proof.body.holds).toBe(true);
    const steps = await world.rest.send<{ data: { kind: string; status: string }[] }>(
      'GET',
      `/v1/runs/${first.run_id}/steps`,
    );
    expect(steps.body.data.map(({ kind, status: state }) => `${kind} ${state}`)).toEqual([
      'model completed',
      'tool completed',
      'model completed',
    ]);
    await readsEverywhere(first.run_id, 'One file. ');
    const session = await world.rest.send<{ durability: string; run_id: string }>(
      'GET',
      `/v1/threads/${body.thread_id}/session`,
    );
    expect(session.body).toMatchObject({ durability: 'committed', run_id: runs[1]?.run_id });
  });

  it('may hold ids and names that no engine here would give', async () => {
    const id = `"weird" 🌍 ${'i'.repeat(240)}`;
    const named = { ...toolCall(id), name: `name of ñ ${'n'.repeat(240)}`, arguments: { text: 'z'.repeat(9_000) } };
    const messages = [
      userSays(''),
      assistantSays([named]),
      toolSays(id, '\u0000\ud800'),
      assistantSays('All is said.'),
    ];
    const { status, body } = await importFile(fileOf(entriesOf(messages)));
    expect(status).toBe(201);
    const [run] = await runsOf(body.thread_id);
    await world.rest.settled(run?.run_id ?? '');
    await readsEverywhere(run?.run_id ?? '', 'All is said.');
    expect((await exportFile(body.thread_id)).messages).toEqual(messages);
  });

  it('is gone on with by the next run, which sees all of it', async () => {
    const { body } = await importFile(fileOf(entriesOf(talk)));
    const next = await world.rest.settled(
      (await world.rest.startRun('ANSWER after the import', {}, body.thread_id)).run_id,
    );
    expect(next).toMatchObject({ status: 'completed', parent_run_id: (await runsOf(body.thread_id))[1]?.run_id });
    const seen = await conversationOf(world.stack.pool, next.run_id);
    expect(seen.slice(0, talk.length)).toEqual(talk);
    const { messages, headers } = await exportFile(body.thread_id);
    expect(messages).toEqual(seen);
    expect(headers.get('content-type')).toContain('application/x-ndjson');
    const [run] = await runsOf(body.thread_id);
    expect((await exportFile(body.thread_id, `?run_id=${run?.run_id ?? ''}`)).messages).toEqual(talk.slice(0, 4));
  });

  it('is exported as it was imported, whatever was said', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const imported = await importFile(fileOf(entriesOf(messages)));
        expect(imported.body).not.toHaveProperty('code');
        const exported = await exportFile(imported.body.thread_id);
        expect(exported.messages).toEqual(messages);
        const again = await importFile(fileOf(entriesOf(exported.messages)));
        expect((await exportFile(again.body.thread_id)).messages).toEqual(messages);
        for (const { run_id: runId } of await runsOf(again.body.thread_id)) await world.rest.settled(runId);
      }),
      { numRuns: 8 },
    );
  });

  it('is imported once for one Idempotency-Key, over posts at once', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const file = fileOf(entriesOf(talk));
    const answers = await Promise.all(Array.from({ length: 6 }, async () => await importFile(file, headers)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.thread_id)).size).toBe(1);
    expect(await runsOf(answers[0]?.body.thread_id ?? '')).toHaveLength(2);
    const other = await importFile(fileOf(entriesOf([userSays('other')])), headers);
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
  });

  it('that is malformed is refused with the line and the reason, and leaves nothing', async () => {
    const before = await threads();
    const file = fileOf(entriesOf([userSays('hi'), toolSays('none', 'x')]));
    expect(await importFile(file)).toMatchObject({
      status: 422,
      body: { code: 'session_malformed', line: 3, reason: 'orphan_tool_result' },
    });
    expect(await importFile(`${fileOf(entriesOf([userSays('hi')]))}{"torn`)).toMatchObject({
      status: 422,
      body: { line: 3, reason: 'malformed_json' },
    });
    expect(await importFile('')).toMatchObject({ status: 422, body: { reason: 'no_header' } });
    expect(await importFile(file, { 'content-type': 'application/json' })).toMatchObject({ status: 415 });
    const many = fileOf(entriesOf(Array.from({ length: 10_001 }, () => userSays('x'))));
    expect(await importFile(many)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(await importFile('x'.repeat(16 * 1024 * 1024 + 1))).toMatchObject({ status: 413 });
    expect(await threads()).toBe(before);
  });
});

describe('a session file with faults', () => {
  it('is imported when it may be repaired, and the answer says what was', async () => {
    const file = `${fileOf(entriesOf([...talk, toolSays('none', 'stray')]))}{"torn`;
    expect((await importFile(file)).status).toBe(422);
    const { status, body } = await importFile(file, {}, '?repair=1');
    expect(status).toBe(201);
    expect(body['repaired']).toMatchObject([
      { code: 'orphan_tool_result', line: 8 },
      { code: 'malformed_json', line: 9 },
    ]);
    expect((await exportFile(body.thread_id)).messages).toEqual(talk);
    expect((await importFile('no session at all', {}, '?repair=1')).body).toMatchObject({ reason: 'orphaned_header' });
  });
});

describe('a thread’s session file', () => {
  it('is another tenant’s and a missing one’s alike: 404', async () => {
    const { body } = await importFile(fileOf(entriesOf(talk)));
    const other = await importFile(fileOf(entriesOf(talk)));
    const [foreign] = await runsOf(other.body.thread_id);
    expect((await exportFile(body.thread_id, `?run_id=${foreign?.run_id ?? ''}`)).status).toBe(404);
    await world.stack.pool.query(`update thread set tenant_id = 'other' where thread_id = $1`, [body.thread_id]);
    expect((await exportFile(body.thread_id)).status).toBe(404);
    expect((await exportFile('thr_00000000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  it('is gone with the thread', async () => {
    const { body } = await importFile(fileOf(entriesOf(talk)));
    for (const { run_id: runId } of await runsOf(body.thread_id)) await world.rest.settled(runId);
    expect((await world.rest.send('DELETE', `/v1/threads/${body.thread_id}`)).status).toBe(204);
    expect((await exportFile(body.thread_id)).status).toBe(404);
  });

  it('of a long conversation comes whole', async () => {
    const long = Array.from({ length: 400 }, (_, i) => [
      userSays(`question ${String(i)}`),
      assistantSays(i % 50 === 0 ? 'y'.repeat(100_000) : `answer ${String(i)}`),
    ]).flat();
    const { body } = await importFile(fileOf(entriesOf(long)));
    expect((await exportFile(body.thread_id)).messages).toEqual(long);
    const runs = await runsOf(body.thread_id);
    await world.rest.settled(runs[0]?.run_id ?? '');
  });
});

async function readsEverywhere(runId: string, words: string): Promise<void> {
  for (const encoding of ['lifecycle', 'ag-ui', 'custom', 'ag-ui-legacy', 'canonical']) {
    const res = await fetch(`${world.rest.url}/v1/runs/${runId}/events?encoding=${encoding}`);
    const said = await res.text();
    expect([encoding, res.status, said.includes(words)]).toEqual([encoding, 200, true]);
    expect(said).not.toMatch(/RUN_ERROR|run\.error|harness_event_invalid|harness_stream_closed/);
  }
}

async function threads(): Promise<number> {
  const { rows } = await world.stack.pool.query<{ n: number }>('select count(*)::int as n from thread');
  return rows[0]?.n ?? 0;
}

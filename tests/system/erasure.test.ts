import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerExtensionCall, insertExtensionCall } from '../../infra/postgres/extension-call.ts';
import { insertVerdicts } from '../../infra/postgres/tool-verdict.ts';
import { putArtifact } from '../../infra/postgres/artifact.ts';
import { linkArtifacts } from '../../infra/postgres/artifact-link.ts';
import { inTransaction } from '../../infra/postgres/transaction.ts';
import { Rest, type Problem, type Run } from '../fixtures/rest.ts';
import { rowsOfThread } from '../fixtures/rows-of-thread.ts';
import { SseClient } from '../fixtures/sse-client.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld({ gateways: 2 });

/** Every column that a thread with a tool call, an approval, a steering input and an artifact leaves something in. */
const FULL = [
  'artifact_link.run_id',
  'artifact_link.thread_id',
  'command.run_id',
  'command.thread_id',
  'compaction.run_id',
  'delivery.run_id',
  'delivery.thread_id',
  'extension_call.thread_id',
  'frame.run_id',
  'interrupt.run_id',
  'interrupt.thread_id',
  'lane.run_id',
  'lane.thread_id',
  'message.run_id',
  'outbox.run_id',
  'outbox.thread_id',
  'queued_input.run_id',
  'queued_input.thread_id',
  'replay_segment.thread_id',
  'run.parent_run_id',
  'run.run_id',
  'run.thread_id',
  'session.run_id',
  'session.thread_id',
  'step.run_id',
  'sub_agent.run_id',
  'thread.thread_id',
  'tool_verdict.run_id',
];

const folderOf = (threadId: string): string => join(world.stack.home, 'workspaces', threadId);
/** Of agents that are modules. */
const sessionsOf = (threadId: string): string => join(world.stack.home, 'hosted-sessions', threadId);

/** A thread of two runs that wrote a file, with a word that it stored as an artifact and one that all threads share. */
async function fullThread(): Promise<{ threadId: string; runIds: string[]; own: string; shared: string }> {
  const { run_id: first, thread_id: threadId } = await world.rest.startRun('WRITE it');
  const [interrupt] = await world.rest.interruptOf(first);
  await world.rest.send('POST', `/v1/threads/${threadId}/runs`, { input: 'ANSWER too', multitask: 'steer' });
  await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
  await world.rest.settled(first);
  const second = (await world.rest.startRun('DELEGATE [{"task":"answer it"}]', {}, threadId)).run_id;
  await world.rest.settled(second);
  await world.stack.pool.query(
    `insert into compaction (run_id, step_index, at_message_index, first_kept_run_id, first_kept_message_index, summary,
                             trigger, tokens_before, tokens_after, messages_summarized, messages_kept)
     values ($1, 0, 1, $1, 0, '"what was said"', 'automatic', 2, 1, 3, 1)`,
    [second],
  );
  const own = await artifact(`own of ${threadId}`);
  const shared = await artifact('shared by all');
  await inTransaction(world.stack.pool, async (client) => {
    await linkArtifacts(client, first, [
      { artifactId: own, name: 'own.txt' },
      { artifactId: shared, name: 'shared.txt' },
    ]);
  });
  await insertVerdicts(world.stack.pool, first, [{ stepIndex: 1, edited: false, reason: null }]);
  await unreadAnswer(threadId);
  return { threadId, runIds: [first, second], own, shared };
}

/** A command whose client has left before its answer came. */
async function unreadAnswer(threadId: string): Promise<void> {
  const call = { tenantId: 'default', threadId, kind: 'command', name: 'help', args: '' } as const;
  const callId = await insertExtensionCall(world.stack.pool, call);
  await answerExtensionCall(world.stack.pool, callId, { ok: true, result: threadId, events: [] });
}

async function artifact(text: string): Promise<string> {
  const content = Buffer.from(text);
  return (await putArtifact(world.stack.pool, { tenantId: 'default', contentType: 'text/plain', content })).artifactId;
}

async function artifactsLeft(...artifactIds: string[]): Promise<string[]> {
  const { rows } = await world.stack.pool.query<{ artifact_id: string }>(
    `select artifact_id from artifact join artifact_chunk using (artifact_id) where artifact_id = any($1)`,
    [artifactIds],
  );
  return rows.map((row) => row.artifact_id);
}

async function workspaceGone(threadId: string): Promise<void> {
  await world.rest.until('the workspace is removed', async () => {
    const { rows } = await world.stack.pool.query(
      'select 1 from erasure where thread_id = $1 and workspace_removed_at is not null',
      [threadId],
    );
    return rows.length === 1 ? true : null;
  });
  await expect(stat(folderOf(threadId))).rejects.toThrow('ENOENT');
  await expect(stat(sessionsOf(threadId))).rejects.toThrow('ENOENT');
}

const erase = (threadId: string, query = '') =>
  world.rest.send<Problem & { erasing?: boolean }>('DELETE', `/v1/threads/${threadId}${query}`);

describe('an erased thread', () => {
  it('leaves no row, no artifact of its own and no file; another thread keeps all of it', async () => {
    const gone = await fullThread();
    const kept = await fullThread();
    expect(Object.keys(await rowsOfThread(world.stack.pool, gone.threadId, gone.runIds))).toEqual(FULL);
    const before = await rowsOfThread(world.stack.pool, kept.threadId, kept.runIds);
    const log = await world.rest.deliveries(kept.threadId);
    expect(await readFile(join(folderOf(gone.threadId), 'note.txt'), 'utf8')).toBe('from the model');

    expect(await erase(gone.threadId)).toMatchObject({ status: 204, body: null });
    expect(await rowsOfThread(world.stack.pool, gone.threadId, gone.runIds)).toEqual({});
    expect((await artifactsLeft(gone.own, gone.shared, kept.own)).toSorted()).toEqual(
      [gone.shared, kept.own].toSorted(),
    );
    await workspaceGone(gone.threadId);

    expect(await rowsOfThread(world.stack.pool, kept.threadId, kept.runIds)).toEqual(before);
    expect(await world.rest.deliveries(kept.threadId)).toEqual(log);
    expect(await readFile(join(folderOf(kept.threadId), 'note.txt'), 'utf8')).toBe('from the model');
    expect((await erase(kept.threadId)).status).toBe(204);
    expect(await artifactsLeft(kept.own, kept.shared)).toEqual([]);
  });

  it('is found by nobody any more, and erasing it again is 404', async () => {
    const { threadId, runIds } = await fullThread();
    expect((await erase(threadId)).status).toBe(204);
    const paths = [
      `/v1/threads/${threadId}`,
      `/v1/threads/${threadId}/runs`,
      `/v1/threads/${threadId}/events`,
      ...['', '/events', '/frames', '/steps', '/verify'].map((path) => `/v1/runs/${runIds[0] ?? ''}${path}`),
    ];
    for (const url of world.stack.urls) {
      for (const path of paths) expect([path, (await new Rest(url).send('GET', path)).status]).toEqual([path, 404]);
    }
    expect(await erase(threadId)).toMatchObject({ status: 404, body: { code: 'thread_not_found' } });
    const again = await world.rest.send('POST', `/v1/threads/${threadId}/runs`, { input: 'ANSWER' });
    expect(again.status).toBe(404);
  });

  it('ends the streams that are open on every gateway, without an id, and a reconnect finds nothing', async () => {
    const { threadId } = await fullThread();
    const urls = world.stack.urls.map((url) => `${url}/v1/threads/${threadId}/events`);
    const streams = await Promise.all(urls.map((url) => SseClient.open(url)));
    await Promise.all(streams.map((stream) => stream.until((client) => client.named('caught-up').length === 1)));
    const waiting = world.rest.send('GET', `/v1/threads/${threadId}/events?tail=1&wait=30`, undefined, {
      accept: 'application/json',
    });
    expect((await erase(threadId)).status).toBe(204);
    for (const stream of streams) {
      await stream.untilClosed();
      expect(stream.frames.at(-1)).toMatchObject({ event: 'gone', id: undefined, data: JSON.stringify({ threadId }) });
      expect(stream.named('gone')).toHaveLength(1);
    }
    expect((await waiting).status).toBe(404);
    const back = await SseClient.open(urls[1] ?? '', { 'last-event-id': streams[1]?.lastEventId ?? '' });
    expect(back.status).toBe(404);
  });

  it('is another tenant’s business only: the same 404 as a missing one, and nothing is touched', async () => {
    const { run_id: runId, thread_id: threadId } = await world.rest.startRun('ANSWER');
    await world.rest.settled(runId);
    await world.stack.pool.query(`update thread set tenant_id = 'other' where thread_id = $1`, [threadId]);
    const before = await rowsOfThread(world.stack.pool, threadId, [runId]);
    const foreign = await erase(threadId);
    const missing = await erase('thr_00000000-0000-7000-8000-000000000000');
    expect([foreign.status, foreign.body.code, foreign.body.remedy]).toEqual([
      404,
      missing.body.code,
      missing.body.remedy,
    ]);
    expect(await rowsOfThread(world.stack.pool, threadId, [runId])).toEqual(before);
    expect((await world.stack.pool.query('select 1 from erasure where thread_id = $1', [threadId])).rowCount).toBe(0);
  });
});

describe('a thread with a run in flight', () => {
  async function parked(): Promise<{ run: Run; queued: Run; threadId: string }> {
    const run = await world.rest.startRun('WRITE it');
    const { thread_id: threadId } = run;
    await world.rest.interruptOf(run.run_id);
    return { run, queued: await world.rest.startRun('ANSWER', {}, threadId), threadId };
  }

  it('is refused with the runs that have not ended, and goes on', async () => {
    const { run, queued, threadId } = await parked();
    const refused = await erase(threadId);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'thread_has_live_run', run_ids: [run.run_id, queued.run_id] },
    });
    expect((await erase(threadId, '?cancel=0')).status).toBe(409);
    expect((await erase(threadId, '?cancel=yes')).status).toBe(400);
    const [interrupt] = await world.rest.interruptOf(run.run_id);
    await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    expect((await world.rest.settled(queued.run_id)).status).toBe('completed');
    expect((await erase(threadId)).status).toBe(204);
  });

  it('is cancelled first when asked: it takes no new run, ends as cancelled on its stream, and is gone then', async () => {
    const { run, queued, threadId } = await parked();
    for (const folder of [folderOf(threadId), sessionsOf(threadId)]) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'left.txt'), 'x');
    }
    const stream = await SseClient.open(`${world.stack.urls[1] ?? ''}/v1/threads/${threadId}/events`);
    const [worker] = world.stack.workers;
    await worker?.kill('SIGSTOP');
    try {
      expect(await erase(threadId, '?cancel=1')).toMatchObject({
        status: 202,
        body: { erasing: true, cancelling_run_ids: [run.run_id, queued.run_id] },
      });
      expect((await world.rest.send('GET', `/v1/threads/${threadId}`)).body).toMatchObject({ erasing: true });
      expect(await world.rest.send('POST', `/v1/threads/${threadId}/runs`, { input: 'ANSWER' })).toMatchObject({
        status: 409,
        body: { code: 'thread_erasing' },
      });
      expect((await erase(threadId)).status).toBe(202);
    } finally {
      await worker?.kill('SIGCONT');
    }
    await stream.untilClosed(40_000);
    expect(stream.frames.at(-1)?.event).toBe('gone');
    const endings = stream.deliveries.flatMap(({ event }) => (event?.['kind'] === 'turn.completed' ? [event] : []));
    expect(endings.map((event) => event['stopReason'])).toEqual(['cancelled', 'cancelled']);
    expect(stream.named('canonical-complete')).toHaveLength(2);
    await workspaceGone(threadId);
    expect(await rowsOfThread(world.stack.pool, threadId, [run.run_id, queued.run_id])).toEqual({});
    expect((await erase(threadId)).status).toBe(404);
  });
});

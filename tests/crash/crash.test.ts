import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOwnServers, type OwnServers } from '../../infra/testing/own-servers.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { sequence, SseClient } from '../fixtures/sse-client.ts';
import { startModelServer, type ModelServer } from '../fixtures/model-server.ts';
import { Rest, textOf, type Run } from '../fixtures/rest.ts';

const TIMEOUT = 120_000;
let model: ModelServer;
let servers: OwnServers;
let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  [model, servers] = await Promise.all([startModelServer(), startOwnServers()]);
}, TIMEOUT);
afterAll(async () => {
  await servers?.stop();
  await model?.stop();
}, TIMEOUT);
beforeEach(async () => {
  const env = { OPENAI_API_KEY: 'sk-canary-key', OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'scripted' };
  stack = await startStack({ servers, env });
  rest = new Rest(stack.url);
}, TIMEOUT);
afterEach(async () => {
  await stack?.stop();
}, TIMEOUT);

async function speaking(run: Run, words = 3): Promise<void> {
  await rest.until('it speaks', async () => (textOf(await rest.events(run)).split(' ').length > words ? true : null));
}

/** Whatever happened: the log is dense, each run said one end, and what was delivered changed only by revisions. */
async function holds(run: Run, before: readonly { deliverySeq: number }[] = []): Promise<void> {
  const deliveries = await rest.deliveries(run.thread_id);
  expect(deliveries.map(({ delivery_seq: seq }) => seq)).toEqual(sequence(deliveries.length));
  const events = deliveries.flatMap(({ event }) => event ?? []);
  expect(events.filter(({ kind, retracted }) => kind === 'turn.completed' && retracted !== true)).toHaveLength(1);
  const now = new Map(events.map((event) => [event.deliverySeq, event]));
  for (const event of before) expect(now.get(event.deliverySeq)).toEqual(event);
  const { body } = await rest.send<{ holds: boolean }>('GET', `/v1/runs/${run.run_id}/verify`);
  expect(body.holds).toBe(true);
}

async function delivered(run: Run) {
  return (await rest.deliveries(run.thread_id)).flatMap(({ event }) => event ?? []);
}

describe('kill -9 of the worker', () => {
  it('in mid-stream: another one repeats the step, and what the dead one had said is withdrawn, never doubled', async () => {
    const run = await rest.startRun('SLOW before a crash');
    await speaking(run);
    const before = await delivered(run);
    await stack.workers[0]?.kill('SIGKILL');
    await stack.startWorker();
    await rest.until('the step is repeated', async () => {
      const again = (await delivered(run)).some(({ kind }) => kind === 'context.marker');
      return again ? true : null;
    });
    await speaking(run);
    await rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    await rest.settled(run.run_id);
    expect(textOf(await rest.events(run)).match(/word0 /g)).toHaveLength(1);
    await holds(run, before);
  }, 120_000);

  it('while a run waits for a person, and of everything else too: the answer finds it', async () => {
    const run = await rest.startRun('WRITE through a crash');
    const [interrupt] = await rest.interruptOf(run.run_id);
    const before = await delivered(run);
    await stack.workers[0]?.kill('SIGKILL');
    await stack.gateways[0]?.kill('SIGKILL');
    await Promise.all([servers.killTemporal(), servers.killPostgres()]);
    await Promise.all([servers.startTemporal(), servers.startPostgres()]);
    rest = new Rest((await stack.startGateway()).url);
    // answered before any worker is there, and through a gateway that never saw the run
    expect((await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' })).status).toBe(200);
    await stack.startWorker();
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect(await readFile(join(stack.home, 'workspaces', run.thread_id, 'note.txt'), 'utf8')).toBe('from the model');
    await holds(run, before);
  }, 120_000);

  it('between steps: no step that was done is done again', async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, (_, i) => rest.startRun(`PARALLEL ${String(i)} of many`)));
    await sleep(600);
    await stack.workers[0]?.kill('SIGKILL');
    await stack.startWorker();
    for (const run of runs) {
      expect((await rest.settled(run.run_id)).status).toBe('completed');
      await holds(run);
      expect((await rest.events(run)).filter(({ kind }) => kind === 'tool.completed')).toHaveLength(2);
    }
    // two model calls a run, and at most one more for the step that the crash interrupted
    for (const [i] of runs.entries()) expect(model.calls(`PARALLEL ${String(i)} of many`)).toBeLessThanOrEqual(3);
  }, 120_000);
});

describe('kill -9 of the gateway', () => {
  it('while clients read: they go on at another one by their cursor, and neither lose nor repeat an event', async () => {
    const second = new Rest((await stack.startGateway()).url);
    const run = await rest.startRun('SLOW for readers');
    const path = `/v1/threads/${run.thread_id}/events`;
    const seen = await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        const first = await SseClient.open(`${rest.url}${path}`);
        await first.untilId(8 + i);
        return first;
      }),
    );
    await stack.gateways[0]?.kill('SIGKILL');
    rest = second;
    await Promise.all(
      seen.map(async (first) => {
        await first.untilClosed();
        const next = await SseClient.open(`${second.url}${path}`, { 'last-event-id': first.lastEventId });
        await next.untilId(40, 30_000);
        next.close();
        expect([...first.seqs, ...next.seqs]).toEqual(sequence(first.seqs.length + next.seqs.length));
      }),
    );
    await rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    await rest.settled(run.run_id);
    await holds(run);
  }, 120_000);
});

describe('kill -9 of PostgreSQL', () => {
  it('in mid-stream: the run goes on when it is back, and nothing that was delivered is lost', async () => {
    const run = await rest.startRun('SLOW through the database');
    await speaking(run);
    const before = await delivered(run);
    await servers.killPostgres();
    await sleep(1_000);
    await servers.startPostgres();
    await rest.until('it speaks on', async () => ((await delivered(run)).length > before.length + 5 ? true : null));
    await rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    expect(await rest.settled(run.run_id)).toMatchObject({ stop_reason: 'cancelled' });
    await holds(run, before);
  }, 120_000);
});

describe('Temporal down', () => {
  it('while a run is posted: it is accepted, and started exactly once when Temporal is back', async () => {
    await servers.killTemporal();
    const run = await rest.startRun('ANSWER without Temporal');
    expect((await rest.run(run.run_id)).status).toBe('queued');
    await servers.startTemporal();
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect(model.calls('ANSWER without Temporal')).toBe(1);
    await holds(run);
  }, 120_000);
});

describe('Temporal down while an answer is given', () => {
  it('the answer is recorded at once and acted on when Temporal is back: it is never lost, never asked for again', async () => {
    const run = await rest.startRun('WRITE without Temporal');
    const [interrupt] = await rest.interruptOf(run.run_id);
    await servers.killTemporal();
    expect((await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' })).status).toBe(200);
    expect((await rest.run(run.run_id)).pending_interrupts).toEqual([]);
    await servers.startTemporal();
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect((await rest.events(run)).filter(({ kind }) => kind === 'file.changed')).toHaveLength(1);
    await holds(run);
  }, 120_000);
});

describe('a deploy', () => {
  it('hands the run over: SIGTERM of the worker is never a user’s stop', async () => {
    const run = await rest.startRun('SLOW across a deploy');
    await speaking(run);
    const old = stack.workers[0];
    const next = stack.startWorker();
    const ended = old?.end();
    await next;
    expect(await ended).toBe('exit code 0');
    await rest.until('the next worker repeats the step', async () =>
      (await delivered(run)).some(({ kind }) => kind === 'context.marker') ? true : null,
    );
    expect((await rest.run(run.run_id)).status).toBe('running');
    await rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    expect(await rest.settled(run.run_id)).toMatchObject({ stop_reason: 'cancelled' });
    await holds(run);
  }, 120_000);
});

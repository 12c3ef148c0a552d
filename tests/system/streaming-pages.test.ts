import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useStreaming } from '../fixtures/streaming.ts';
import { addRun, appendCompletion, appendText, type TestThread } from '../fixtures/threads.ts';

const world = useStreaming();

interface Page {
  readonly thread_id: string;
  readonly deliveries: readonly {
    readonly delivery_seq: number;
    readonly revision: number;
    readonly retracted?: true;
    readonly event?: Record<string, unknown>;
    readonly complete?: Record<string, unknown>;
  }[];
  readonly next_after: number;
  readonly head: number;
}

async function page(thread: TestThread, query = '', signal?: AbortSignal): Promise<Page> {
  const response = await fetch(world.gateway.events(thread.threadId, query), {
    headers: { accept: 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

/** Two runs in turn, three kinds of event, a retraction and a completion record. */
async function mixedThread(): Promise<TestThread & { readonly otherRunId: string }> {
  const thread = await world.threadWith(2);
  const otherRunId = await addRun(world.pool, thread.threadId);
  for (let i = 0; i < 3; i++) {
    await appendText(world.pool, thread, 'msg', `piece ${String(i)}`);
    await world.append({ ...thread, runId: otherRunId }, 2);
  }
  await world.pool.query(
    `with head as (update thread set head_seq = head_seq + 1 where thread_id = $1 returning head_seq)
     insert into delivery (thread_id, delivery_seq, run_id, record, event_id, seq, revision, kind, retracted, body)
     select $1, head_seq, run_id, 'event', event_id, seq, 1, kind, true, body
       from head, delivery where thread_id = $1 and delivery_seq = 1`,
    [thread.threadId],
  );
  await appendCompletion(world.pool, thread);
  return { ...thread, otherRunId };
}

test('pages hold what the stream says, whatever their size', async () => {
  const thread = await mixedThread();
  const stream = await world.open(world.gateway.events(thread.threadId));
  await stream.until((c) => c.named('caught-up').length === 1);
  const head = stream.seqs.length;
  for (const limit of [1, 3, 1_000]) {
    const items: Page['deliveries'][number][] = [];
    let after = 0;
    do {
      const got = await page(thread, `after=${String(after)}&limit=${String(limit)}`);
      expect(got).toMatchObject({ thread_id: thread.threadId, head });
      expect(got.deliveries.length).toBeLessThanOrEqual(limit);
      expect(got.next_after).toBeGreaterThan(after);
      items.push(...got.deliveries);
      after = got.next_after;
    } while (after < head);
    expect(items.map(({ event, complete }) => (event === undefined ? { complete } : { event }))).toEqual(
      stream.deliveries.map(({ event, complete }) => (event === undefined ? { complete } : { event })),
    );
    expect(items.map(({ delivery_seq }) => delivery_seq)).toEqual(stream.seqs);
    expect(items.at(-2)).toMatchObject({ revision: 1, retracted: true, event: { revision: 1, retracted: true } });
  }
  expect(await page(thread, `after=${String(head)}`)).toMatchObject({ deliveries: [], next_after: head, head });
});

test('a page is bounded in bytes and says that the log goes on', async () => {
  const thread = await world.threadWith(200, { padding: 'x'.repeat(20_000) });
  const first = await page(thread, 'limit=1000');
  expect(first.deliveries.length).toBeGreaterThan(10);
  expect(first.deliveries.length).toBeLessThan(80);
  expect(first.next_after).toBe(first.deliveries.length);
  expect(first.head).toBe(200);
});

test('wait=N answers with what comes, at once when it comes, and empty when nothing does', async () => {
  const thread = await world.threadWith(1);
  const startedAt = performance.now();
  const waiting = page(thread, 'after=1&wait=30');
  await sleep(100);
  await world.append(thread, 2);
  const got = await waiting;
  expect(got.deliveries.map(({ delivery_seq }) => delivery_seq)).toContain(2);
  expect(performance.now() - startedAt).toBeLessThan(10_000);

  const emptyAt = performance.now();
  expect(await page(thread, 'after=3&wait=1')).toMatchObject({ deliveries: [], next_after: 3, head: 3 });
  expect(performance.now() - emptyAt).toBeGreaterThan(900);
  expect((await page(thread, 'after=0&wait=30')).deliveries).toHaveLength(3);
});

test('a filtered wait passes over what it hides and answers with what it was asked for', async () => {
  const thread = await world.threadWith(1);
  const waiting = page(thread, 'after=1&wait=20&kinds=message.delta');
  await sleep(50);
  await world.append(thread, 3);
  await sleep(100);
  await appendText(world.pool, thread, 'msg', 'at last');
  const got = await waiting;
  expect(got.deliveries.map(({ event }) => event?.['text'])).toEqual(['at last']);
  expect(got.next_after).toBe(6);
});

test('a long poll whose client leaves, or whose gateway drains, waits for nobody', async () => {
  const thread = await world.threadWith(1);
  const leaving = new AbortController();
  const left = page(thread, 'after=1&wait=30', leaving.signal);
  await sleep(50);
  leaving.abort();
  await expect(left).rejects.toThrow('aborted');

  const other = await world.anotherGateway();
  const url = other.events(thread.threadId, 'after=1&wait=30');
  const waiting = fetch(url, { headers: { accept: 'application/json' } });
  await sleep(100);
  const drainedAt = performance.now();
  await other.hub.drain(0);
  expect(((await (await waiting).json()) as Page).deliveries).toEqual([]);
  expect(performance.now() - drainedAt).toBeLessThan(10_000);
});

test('a filter gives the same events across a reconnect as without one', async () => {
  const thread = await mixedThread();
  for (const query of [
    'kinds=message.delta,message.started',
    `run_id=${thread.runId}`,
    `run_id=${thread.otherRunId}&kinds=harness.warning`,
  ]) {
    const whole = await world.open(world.gateway.events(thread.threadId, query));
    await whole.until((c) => c.named('caught-up').length === 1);
    const head = Number(whole.lastEventId);
    const resumed: number[] = [];
    for (let after = 0; after < head;) {
      const part = await world.open(world.gateway.events(thread.threadId, query), { 'last-event-id': String(after) });
      await part.until((c) => c.frames.some(({ id }) => id !== undefined));
      const first = part.frames.find(({ id }) => id !== undefined);
      if (first?.data !== undefined) resumed.push(Number(first.id));
      after = Number(first?.id);
      part.close();
    }
    expect(resumed).toEqual(whole.seqs);
    const wanted = (await page(thread, query)).deliveries.map(({ delivery_seq }) => delivery_seq);
    expect(wanted).toEqual(whole.seqs);
  }
  const kinds = await world.open(world.gateway.events(thread.threadId, 'kinds=message.delta'));
  await kinds.until((c) => c.named('caught-up').length === 1);
  const texts = kinds.deliveries.flatMap(({ event }) => event?.['text'] ?? []);
  expect(texts).toEqual(['piece 0', 'piece 1', 'piece 2']);
  expect(kinds.named('canonical-complete')).toHaveLength(1); // a completion record is no event: no kind hides it
});

test('a filter that hides everything still moves the cursor, in replay and live, by few frames', async () => {
  const thread = await world.threadWith(10_000);
  const client = await world.open(world.gateway.events(thread.threadId, 'kinds=tool.started'));
  await client.until((c) => c.named('caught-up').length === 1);
  expect(client.lastEventId).toBe('10000');
  const before = client.frames.length;
  expect(before).toBeLessThan(100);
  await world.append(thread, 500);
  await client.untilId(10_500);
  expect(client.frames.length - before).toBeLessThan(10);
  expect(client.deliveries).toEqual([]);
  const empty = await page(thread, 'kinds=tool.started');
  expect(empty).toMatchObject({ deliveries: [], next_after: 10_500, head: 10_500 });
});

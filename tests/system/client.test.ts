import { describe, expect, it } from 'vitest';
import { TidemarkClient } from '../../clients/typescript/client.ts';
import { RunFold } from '../../clients/typescript/run-fold.ts';
import { finalText } from '../../clients/typescript/run-text.ts';
import type { ThreadItem } from '../../clients/typescript/thread-item.ts';
import type { Interrupt, QueuedInput, Run } from '../../clients/typescript/resources.ts';
import { sequence } from '../fixtures/sse-client.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();
const clientOf = (fetchOf?: typeof fetch) => new TidemarkClient({ baseUrl: world.stack.url, fetch: fetchOf });

/** The thread up to the completion record of a run. */
async function followed(
  client: TidemarkClient,
  run: Run,
  onItem: (item: ThreadItem) => void = () => {},
): Promise<ThreadItem[]> {
  const items: ThreadItem[] = [];
  for await (const item of client.threads.follow(run.thread_id)) {
    items.push(item);
    onItem(item);
    if (item.type === 'complete' && item.complete.runId === run.run_id) break;
  }
  return items;
}

async function proven(client: TidemarkClient, input: string, more: { readonly model?: string } = {}): Promise<Run> {
  const run = await client.runs.create({ input, ...more });
  await followed(client, run);
  return await client.runs.wait(run.run_id);
}

async function openInterrupt(client: TidemarkClient, run: Run): Promise<Interrupt> {
  for await (const item of client.threads.follow(run.thread_id)) {
    if (item.type !== 'event' || item.event.runId !== run.run_id || item.event.kind !== 'approval.requested') continue;
    return await client.interrupts.get(item.event.approvalId);
  }
  throw new Error('the thread ended');
}

describe('the TypeScript client', () => {
  it('starts a run, follows it, and proves that what it holds is all of it', async () => {
    const client = clientOf();
    const run = await client.runs.create({ input: 'ANSWER me', metadata: { from: 'a test' } });
    const fold = new RunFold();
    const items = await followed(client, run, (item) => item.type === 'event' && fold.add(item.event));
    expect(finalText(fold.events())).toBe('The answer is 42. ñ 你好 🌍');
    expect(items.flatMap((item) => ('deliverySeq' in item ? [item.deliverySeq] : []))).toEqual(
      sequence(items.length - 1),
    );
    expect(items.filter(({ type }) => type === 'caught-up')).toHaveLength(1);
    const verification = await client.runs.verify(run.run_id);
    expect(verification).toMatchObject({
      holds: true,
      why: 'proven',
      server: { holds: true, checked: ['events', 'frames'] },
    });
    expect(verification.computed).toEqual({ digest: verification.recorded?.digest, events: fold.events().length });
    expect(await client.runs.wait(run.run_id)).toMatchObject({ status: 'completed', metadata: { from: 'a test' } });
  });

  it('follows a thread over the death of its gateway without losing or repeating a delivery', async () => {
    const client = clientOf();
    const run = await client.runs.create({ input: 'over a restart', model: 'scripted/slow' });
    const lost: unknown[] = [];
    const seqs: number[] = [];
    let restart: Promise<unknown> | null = null;
    for await (const item of client.threads.follow(run.thread_id, { onReconnect: ({ error }) => lost.push(error) })) {
      if ('deliverySeq' in item) seqs.push(item.deliverySeq);
      if (seqs.length === 8) {
        restart ??= (async () => {
          await world.stack.gateways[0]?.kill('SIGKILL');
          await world.stack.startGateway(Number(new URL(world.stack.url).port));
        })();
      }
      if (item.type === 'complete') break;
    }
    await restart;
    expect(lost.length).toBeGreaterThan(0);
    expect(seqs).toEqual(sequence(seqs.length));
    expect(await client.runs.verify(run.run_id)).toMatchObject({ holds: true });
  });

  it('starts one run where the answer to its request was lost', async () => {
    let isLost = false;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'POST' || isLost) return response;
      isLost = true;
      await response.body?.cancel();
      throw new TypeError('the connection was lost');
    };
    const client = clientOf(losing);
    const run = await proven(client, 'ANSWER once');
    const runs: string[] = [];
    for await (const { run_id: id } of client.runs.ofThread(run.thread_id)) runs.push(id);
    expect(runs).toEqual([run.run_id]);
    expect(isLost).toBe(true);
  });

  it('does not take a changed event for the truth, whether it was changed on its way or where it is stored', async () => {
    const run = await proven(clientOf(), 'ANSWER truly');
    const changing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
      return new Response((await response.text()).replace('is 42', 'is 43'), response);
    };
    const onItsWay = await clientOf(changing).runs.verify(run.run_id);
    expect(onItsWay).toMatchObject({ holds: false, why: 'digest_differs', server: { holds: true } });
    await world.stack.pool.query(
      `update delivery set body = replace(body, 'is 42', 'is 43') where run_id = $1 and record = 'event'`,
      [run.run_id],
    );
    const stored = await clientOf().runs.verify(run.run_id);
    expect(stored).toMatchObject({ holds: false, why: 'digest_differs', server: { holds: false } });
  });

  it('says of a run that is at work, or whose frames were changed, that nothing is proven', async () => {
    const client = clientOf();
    const waiting = await client.runs.create({ input: 'WRITE and wait' });
    await openInterrupt(client, waiting);
    expect(await client.runs.verify(waiting.run_id)).toMatchObject({
      holds: false,
      why: 'not_complete',
      recorded: null,
    });
    await client.runs.cancel(waiting.run_id);
    const run = await proven(client, 'ANSWER with frames');
    await world.stack.pool.query(`update frame set payload = replace(payload, '42', '43') where run_id = $1`, [
      run.run_id,
    ]);
    expect(await client.runs.verify(run.run_id)).toMatchObject({ holds: false, why: 'frames_differ' });
  });

  it('lists what waits for a person, answers it, and says what was answered already', async () => {
    const client = clientOf();
    const run = await client.runs.create({ input: 'WRITE a file' });
    const open = await openInterrupt(client, run);
    expect(open).toMatchObject({
      kind: 'approval',
      status: 'pending',
      tool_name: 'write_file',
      arguments: { path: 'note.txt' },
    });
    const listed: string[] = [];
    for await (const { interrupt_id: id } of client.interrupts.list({ threadId: run.thread_id })) listed.push(id);
    expect(listed).toEqual([open.interrupt_id]);
    await client.interrupts.resolve(open.interrupt_id, { decision: 'approve' });
    const again = client.interrupts.resolve(open.interrupt_id, { decision: 'reject' });
    await expect(again).rejects.toMatchObject({ code: 'interrupt_already_resolved', status: 409 });
    await followed(client, run);
    const steps = await client.runs.steps(run.run_id);
    expect(steps.map(({ kind }) => kind)).toContain('tool');
    const types: string[] = [];
    for await (const { frame } of client.runs.frames(run.run_id)) types.push(frame.type);
    expect(types.length).toBeGreaterThan(3);
    expect(await client.threads.session(run.thread_id)).toMatchObject({ engine: 'builtin', durability: 'committed' });
  });

  it('says what waits for a run at work, drops it, and knows what became of each input', async () => {
    const client = clientOf();
    const run = await client.runs.create({ input: 'WRITE and be told more' });
    const open = await openInterrupt(client, run);
    const tell = async (input: string, multitask: 'steer' | 'follow_up') =>
      await client.runs.create({ input, multitask }, { threadId: run.thread_id });
    const inputs = async (): Promise<QueuedInput[]> => {
      const listed: QueuedInput[] = [];
      for await (const input of client.runs.inputs(run.run_id)) listed.push(input);
      return listed;
    };
    expect(await inputs()).toEqual([]);
    const { queued_input: steered } = await tell('ANSWER in vain', 'steer');
    await tell('ANSWER in vain too', 'follow_up');
    const waiting = await inputs();
    expect(waiting).toMatchObject([
      { queue: 'steering', state: 'queued', text: 'ANSWER in vain' },
      { queue: 'follow_up', state: 'queued', text: 'ANSWER in vain too' },
    ]);
    expect(waiting[0]?.input_id).toBe(steered?.input_id);
    await client.runs.clearInputs(run.run_id);
    await client.runs.clearInputs(run.run_id);
    await tell('ANSWER what is asked', 'steer');
    await client.interrupts.resolve(open.interrupt_id, { decision: 'approve' });
    expect(await client.runs.wait(run.run_id)).toMatchObject({ status: 'completed', queued_inputs: 0 });
    expect(await inputs()).toMatchObject([
      { state: 'dropped', drop_reason: 'cleared' },
      { state: 'dropped', drop_reason: 'cleared' },
      { state: 'injected', text: 'ANSWER what is asked' },
    ]);
    expect(world.model.calls('in vain')).toBe(0);
    for (const refused of [client.runs.inputs('run_none').next(), client.runs.clearInputs('run_none')]) {
      await expect(refused).rejects.toMatchObject({ code: 'run_not_found', status: 404 });
    }
  });

  it('cancels a run, and waits until it has stopped', async () => {
    const client = clientOf();
    const run = await client.runs.create({ input: 'SLOW words' });
    expect(await client.runs.cancel(run.run_id)).toMatchObject({ run_id: run.run_id });
    expect(await client.runs.wait(run.run_id)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
  });

  it('knows the engines, and refuses with the server’s own words', async () => {
    const client = clientOf();
    expect((await client.engines()).map(({ engine }) => engine)).toContain('builtin');
    await expect(client.runs.create({ input: 'x', engine: 'nobody' })).rejects.toMatchObject({
      code: 'unknown_engine',
      status: 422,
    });
    await expect(client.runs.get('run_none')).rejects.toMatchObject({ code: 'run_not_found', status: 404 });
    const gone = client.threads.follow('thr_00000000-0000-7000-8000-000000000000').next();
    await expect(gone).rejects.toMatchObject({ code: 'thread_not_found' });
  });

  it('is refused a cursor beyond the head, and ends when its thread is erased', async () => {
    const client = clientOf();
    const run = await proven(client, 'ANSWER and vanish');
    const { head } = await client.threads.get(run.thread_id);
    const beyond = client.threads.follow(run.thread_id, { after: head + 1 }).next();
    await expect(beyond).rejects.toMatchObject({ code: 'cursor_beyond_head', facts: { head } });
    const seen: string[] = [];
    for await (const { type } of client.threads.follow(run.thread_id, { after: head })) {
      seen.push(type);
      if (type === 'caught-up') await client.threads.erase(run.thread_id, { cancel: true });
    }
    expect(seen).toEqual(['caught-up', 'gone']);
  });
});

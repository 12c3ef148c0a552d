import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { historyOf, jsonWithBytesAsText } from '../fixtures/histories.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();
const THREE_MIB = 3 * 2 ** 20;
/** Ids and codes fit; a message, an argument or a result does not. */
const PAYLOAD_LIMIT_BYTES = 16 * 1024;

it('a run of 31 model calls grows its history by ids alone, as much for the last as for the first', async () => {
  const started = await world.rest.startRun('LOOP', { settings: { max_steps: 100 } });
  const run = await world.rest.settled(started.run_id);
  expect(run).toMatchObject({ status: 'completed', stop_reason: 'stop' });
  expect((await world.rest.events(run)).filter(({ kind }) => kind === 'tool.completed')).toHaveLength(30);
  const { events, longestPayloadBytes, text } = await historyOf(world.stack, run.run_id);
  expect(longestPayloadBytes).toBeGreaterThan(run.run_id.length);
  expect(longestPayloadBytes).toBeLessThan(PAYLOAD_LIMIT_BYTES);
  const calls = events.flatMap((event, i) =>
    event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel' ? [i] : [],
  );
  expect(calls).toHaveLength(31);
  const bytesBetween = (from: number, to: number) => jsonWithBytesAsText(events.slice(calls[from], calls[to])).length;
  // the numbers in it get longer
  expect(bytesBetween(20, 30)).toBeLessThan(bytesBetween(1, 11) * 1.1);
  expect(text.length / calls.length).toBeLessThan(20_000);
});

it('3 MiB as prompt, decision, tool result or error are refused or kept beside, and no workflow task fails', async () => {
  const tooLarge = { status: 413, body: { code: 'payload_too_large' } };
  expect(await world.rest.send('POST', '/v1/runs', { input: 'x'.repeat(THREE_MIB) })).toMatchObject(tooLarge);

  const decided = await world.rest.startRun('WRITE and decide at length');
  const [interrupt] = await world.rest.interruptOf(decided.run_id);
  const id = interrupt?.interrupt_id ?? '';
  const comment = { decision: 'reject', message: 'x'.repeat(THREE_MIB) };
  expect(await world.rest.resolve(id, comment)).toMatchObject(tooLarge);
  await world.rest.resolve(id, { decision: 'reject', message: 'in short' });

  const first = await world.rest.startRun('ANSWER before the big file');
  await world.rest.settled(first.run_id);
  const workspace = join(world.stack.home, 'workspaces', first.thread_id);
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, 'big.txt'), 'a line of a very long text\n'.repeat(THREE_MIB / 27));
  const read = await world.rest.startRun('READBIG', {}, first.thread_id);

  const failed = await world.rest.startRun('ERRBIG');

  for (const [{ run_id: runId }, status] of [
    [decided, 'completed'],
    [read, 'completed'],
    [failed, 'failed'],
  ] as const) {
    expect((await world.rest.settled(runId)).status).toBe(status);
    const { events, longestPayloadBytes, text } = await historyOf(world.stack, runId);
    expect(events.filter((event) => event.workflowTaskFailedEventAttributes != null)).toEqual([]);
    expect(longestPayloadBytes).toBeLessThan(PAYLOAD_LIMIT_BYTES);
    expect(text).not.toContain('TMPRL1103');
  }
  const error = (await world.rest.events(failed)).find(({ kind }) => kind === 'harness.error');
  expect(JSON.stringify(error).length).toBeLessThan(PAYLOAD_LIMIT_BYTES);
  expect(world.stack.logs()).not.toContain('TMPRL1103');
});

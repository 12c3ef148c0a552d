import { HttpAgent } from '@ag-ui/client';
import { expect } from 'vitest';
import { createLifecycleMachine } from '../../contract/lifecycle-machine.ts';
import { validateLifecycleEvent } from '../../contract/lifecycle-validate.ts';
import type { CompletionRecord } from '../../contract/sealed-translation.ts';
import { read } from '../../contract/encoders/ag-ui-client.testsuite.ts';
import type { Run } from '../fixtures/rest.ts';
import { sequence, SseClient, type SseFrame } from '../fixtures/sse-client.ts';
import type { World } from '../fixtures/world.ts';

type Place = Pick<World, 'rest' | 'stack'>;

const CUSTOM_EVENTS = ['content', 'tool_start', 'tool_end', 'warning', 'input_required', 'error', 'done'];
const machine = createLifecycleMachine({ audience: 'public', ephemeral: false });

/**
 * What holds of every run of every engine that is over: its proof, a lane without a gap or an unmapped frame, one `turn.completed`
 * at its end, and a legal stream of each leg in every encoding.
 */
export async function expectSound(world: Place, run: Run): Promise<void> {
  await expectProven(world, run);
  const legs = await legsOf(world, run);
  const agent = new HttpAgent({ url: 'http://unused.invalid/', threadId: run.thread_id });
  for (let leg = 1; leg <= legs; leg++) {
    const path = `/v1/runs/${run.run_id}/events?leg=${String(leg)}&encoding=`;
    expectLegal(
      run,
      (await framesOf(world, `${path}lifecycle`)).map(({ data = '' }) => JSON.parse(data) as unknown),
    );
    for (const { event, data = '' } of await framesOf(world, `${path}custom`)) {
      expect(CUSTOM_EVENTS).toContain(event);
      expect(() => JSON.parse(data) as unknown).not.toThrow();
    }
    agent.pendingInterrupts = [];
    const frames = await framesOf(world, `${path}ag-ui`);
    const { ending } = await read(
      agent,
      frames.map(({ data = '' }) => `data: ${data}\n\n`),
    );
    expect(ending).toBeDefined();
    expect((await framesOf(world, `${path}ag-ui-legacy`)).at(0)?.event).toBe('RUN_STARTED');
  }
}

async function expectProven({ rest, stack }: Place, run: Run): Promise<void> {
  const { body: proof } = await rest.send<{ holds: boolean; capture_losses: unknown[]; recorded: CompletionRecord }>(
    'GET',
    `/v1/runs/${run.run_id}/verify`,
  );
  expect(proof).toMatchObject({ holds: true, capture_losses: [] });
  const lane: number[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const path = `/v1/runs/${run.run_id}/frames?limit=100${query}`;
    const { body } = await rest.send<{ data: { seq: number }[]; next_cursor: string | null }>('GET', path);
    lane.push(...body.data.map(({ seq }) => seq));
    cursor = body.next_cursor;
  }
  expect(lane).toEqual(sequence(proof.recorded.watermark.frameSeq, 0));
  const events = await rest.events(run);
  expect(events.filter(({ message }) => message === 'native event without a mapping')).toEqual([]);
  expect(events.filter(({ kind }) => kind === 'turn.completed')).toEqual([events.at(-1)]);
  const canonical = await (await SseClient.open(`${stack.url}/v1/runs/${run.run_id}/events`)).untilClosed(30_000);
  expect(canonical.deliveries.at(-1)?.complete).toBeDefined();
}

function expectLegal(run: Run, events: readonly unknown[]): void {
  let state = machine.initial;
  for (const event of events) {
    const valid = validateLifecycleEvent(event);
    if (!valid.ok) throw new Error(`${valid.reason}: ${JSON.stringify(event)}`);
    const next = machine.advance(state, valid.event);
    if (!next.ok) throw new Error(`rule ${String(next.rule)}: ${next.reason}: ${JSON.stringify(event)}`);
    state = next.state;
  }
  expect(machine.finish(state)).toEqual({ ok: true });
  const last = events.at(-1) as { data?: { code?: string } } | undefined;
  // the boundary refused an event: only of a run that ends with this code for its own reasons is it no fault
  if (run.error?.code !== 'harness_event_invalid') expect(last?.data?.code).not.toBe('harness_event_invalid');
}

async function legsOf({ rest }: Place, run: Run): Promise<number> {
  const { body } = await rest.send<{ legs: number }>('GET', `/v1/runs/${run.run_id}/events?encoding=lifecycle&leg=999`);
  return body.legs;
}

async function framesOf({ stack }: Place, path: string): Promise<readonly SseFrame[]> {
  const client = await SseClient.open(`${stack.url}${path}`);
  await client.untilClosed(30_000);
  return client.frames.filter(({ event, data }) => event !== undefined || data !== undefined);
}

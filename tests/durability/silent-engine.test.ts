import { expect, it } from 'vitest';
import { historyOf } from '../fixtures/histories.ts';
import { textOf } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();

it('an engine that says nothing for three heartbeats, and a person who says nothing as long, time nothing out', async () => {
  const parked = await world.rest.startRun('WRITE and wait in silence');
  const [interrupt] = await world.rest.interruptOf(parked.run_id);
  const silent = await world.rest.startRun('SILENT');
  const spoke = async () => (textOf(await world.rest.events(silent)) === '' ? null : true);
  await world.rest.until('it speaks', spoke, 55_000);
  await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'reject' });
  for (const { run_id: runId } of [silent, parked]) {
    expect((await world.rest.settled(runId)).status).toBe('completed');
    const { events } = await historyOf(world.stack, runId);
    expect(events.filter((event) => event.activityTaskTimedOutEventAttributes != null)).toEqual([]);
  }
  expect(textOf(await world.rest.events(silent))).toBe('After a silence.');
  expect(world.model.calls('SILENT')).toBe(1);
}, 90_000);

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { historyOf, jsonWithBytesAsText } from '../fixtures/histories.ts';
import { textOf, type Run } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();

async function speaking(prompt: string): Promise<Run> {
  const run = await world.rest.startRun(prompt);
  await world.rest.until('it speaks', async () => (textOf(await world.rest.events(run)) === '' ? null : true));
  return run;
}

describe('a run that is cancelled', () => {
  it('is settled after its engine has stopped: behind its end there is no frame, and none was refused', async () => {
    const run = await speaking('SLOW to be cancelled');
    await world.rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    await world.rest.settled(run.run_id);
    const { events } = await historyOf(world.stack, run.run_id);
    const call = events.findIndex(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'callModel',
    );
    const ended = events.findIndex(
      ({ activityTaskCanceledEventAttributes: cancelled, activityTaskCompletedEventAttributes: completed }) =>
        String(cancelled?.scheduledEventId ?? completed?.scheduledEventId) === String(events[call]?.eventId),
    );
    const settled = events.findIndex(({ markerRecordedEventAttributes: marker }) =>
      jsonWithBytesAsText(marker ?? null).includes('settleRun'),
    );
    expect(call).toBeGreaterThan(0);
    expect(ended).toBeGreaterThan(call);
    expect(settled).toBeGreaterThan(ended);
    const { rows } = await world.stack.pool.query<{ payload: string; refused_count: number }>(
      `select payload, refused_count from frame join lane using (run_id) where run_id = $1 order by first_seq desc limit 1`,
      [run.run_id],
    );
    expect(rows).toMatchObject([{ payload: expect.stringContaining('"run.settled"'), refused_count: 0 }]);
  });

  it('is cancelled although no wake-up reaches its worker', async () => {
    const run = await speaking('SLOW to a deaf worker');
    const deafening = new AbortController();
    const deafen = async (): Promise<void> => {
      while (!deafening.signal.aborted) {
        await world.stack.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'tidemark-listener' and datname = current_database()`,
        );
        await sleep(20);
      }
    };
    const deafened = deafen();
    try {
      await world.rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
      expect(await world.rest.settled(run.run_id)).toMatchObject({ stop_reason: 'cancelled' });
    } finally {
      deafening.abort();
      await deafened;
    }
  });
});

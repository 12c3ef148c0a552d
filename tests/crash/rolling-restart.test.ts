import { expect, it } from 'vitest';
import { textOf } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';
import { inspectThread } from './harness/checks.ts';

const world = useWorld({ workers: 2 });

it('a rolling restart of all workers under six live runs fails none of them and stops none', async () => {
  const runs = await Promise.all(Array.from({ length: 6 }, (_, i) => world.rest.startRun(`TALK ${String(i)} on`)));
  for (const old of [...world.stack.workers]) {
    await world.rest.until('all speak or have spoken', async () => {
      const said = await Promise.all(runs.map(async (run) => textOf(await world.rest.events(run))));
      return said.every((text) => text !== '') ? true : null;
    });
    const [ended] = await Promise.all([old.end(), world.stack.startWorker()]);
    expect(ended).toBe('exit code 0');
  }
  for (const run of runs) {
    expect(await world.rest.settled(run.run_id)).toMatchObject({ status: 'completed', stop_reason: 'stop' });
    expect(textOf(await world.rest.events(run)).match(/word\d+ /g)).toHaveLength(50);
    expect((await inspectThread(world.rest, run.thread_id)).faults).toEqual([]);
  }
}, 120_000);

import { join } from 'node:path';
import { pino } from 'pino';
import { createCanonicalize } from '../../activities/canonicalize.ts';
import type { Dependencies } from '../../activities/dependencies.ts';
import type { Pool } from '../../infra/postgres/pool.ts';
import type { Benchmark } from '../benchmark.ts';
import { fillLane, openRun, settle } from '../runs.ts';
import { interleave, median, medianRatio } from '../statistics.ts';
import { TARGET } from '../targets.ts';
import { saveStream, timeToCaughtUp, timeToFirstDelivery } from './read-stream.ts';

const EVENTS = 100_000;
const ROUNDS = 7;
const FIRST_BYTE_ROUNDS = 9;
/** Holds the whole thread. */
const ROOMY_CACHE_BYTES = 256 * 1024 * 1024;

export const replay: Benchmark = {
  name: 'replay',
  compares:
    'the 100,000 events of a completed thread through the gateway, against plain Node http writing the same bytes',
  async run(world, report) {
    const database = await world.database('replay');
    const threadId = await completedThread(database.pool);
    // without a cache every read is a first one
    const coldGateway = await world.gateway(database, { TIDEMARK_SEGMENT_CACHE_BYTES: '0' });
    const hotGateway = await world.gateway(database, { TIDEMARK_SEGMENT_CACHE_BYTES: String(ROOMY_CACHE_BYTES) });
    const defaultGateway = await world.gateway(database);
    const events = (url: string, after = 0): string => `${url}/v1/threads/${threadId}/events?after=${String(after)}`;

    const file = join(world.home, 'replay.sse');
    const bytes = await saveStream(events(hotGateway.url), file);
    const plain = await world.process('bench/replay/plain-server.ts');
    await plain.ask({ file });

    const variants = {
      plain: () => timeToCaughtUp(plain.url),
      cold: () => timeToCaughtUp(events(coldGateway.url)),
      hot: () => timeToCaughtUp(events(hotGateway.url)),
      byDefault: () => timeToCaughtUp(events(defaultGateway.url)),
    };
    await interleave(2, variants);
    const taken = await interleave(ROUNDS, variants);
    const comparedWith = `plain Node http, prebuilt buffers of 64 KiB, ${(bytes / 1e6).toFixed(0)} MB`;
    const common = { benchmark: 'replay', comparedWith };
    const share = (timesMs: readonly number[]) => ({ value: medianRatio(taken.plain, timesMs), unit: '%' as const });
    report.add({ ...common, measure: 'cold', ...share(taken.cold), target: TARGET.replayCold });
    report.add({ ...common, measure: 'hot', ...share(taken.hot), target: TARGET.replayHot });
    report.add({ ...common, measure: 'second read, cache of the default size', ...share(taken.byDefault) });
    const rate = (timesMs: readonly number[]) => EVENTS / (median(timesMs) / 1_000);
    report.note('replay', 'events/s', { plain: rate(taken.plain), cold: rate(taken.cold), hot: rate(taken.hot) });
    report.note('replay', 'bytes an event', bytes / EVENTS);

    const cursors = { start: 0, middle: EVENTS / 2 + 7, 'near the end': EVENTS - 20 };
    for (const [where, after] of Object.entries(cursors)) {
      const firsts = await interleave(FIRST_BYTE_ROUNDS, {
        plain: () => timeToFirstDelivery(plain.url),
        cold: () => timeToFirstDelivery(events(coldGateway.url, after)),
        hot: () => timeToFirstDelivery(events(hotGateway.url, after)),
      });
      report.add({
        benchmark: 'replay',
        measure: `first delivery, cursor ${where}, cold`,
        value: median(firsts.cold),
        unit: 'ms',
        comparedWith: `plain Node http: ${median(firsts.plain).toFixed(1)} ms; hot: ${median(firsts.hot).toFixed(1)} ms`,
        target: TARGET.replayFirstByteMs,
      });
    }
  },
};

/** A thread with one run, settled and proven complete, its replay segments written. */
async function completedThread(pool: Pool): Promise<string> {
  const run = await openRun(pool);
  await fillLane(pool, run, { frames: EVENTS, framesASegment: 100 });
  await settle(pool, run);
  await pool.query('vacuum analyze frame, delivery');
  const deps = { pool, log: pino({ level: 'silent' }) } as unknown as Dependencies;
  if (!(await createCanonicalize(deps)(run.lane.runId))) throw new Error('the run was not proven');
  await pool.query('vacuum analyze replay_segment');
  return run.threadId;
}

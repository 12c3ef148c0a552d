import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pino } from 'pino';
import { createCanonicalize } from '../../activities/canonicalize.ts';
import type { Dependencies } from '../../activities/dependencies.ts';
import type { Pool } from '../../infra/postgres/pool.ts';
import type { Benchmark } from '../benchmark.ts';
import type { Report } from '../report.ts';
import { fillLane, openRun, settle } from '../runs.ts';
import { interleave, median, medianRatio } from '../statistics.ts';
import { TARGET } from '../targets.ts';

const TARGET_FRAMES = 50_000;
const ROUNDS = 3;

export const canonicalize: Benchmark = {
  name: 'canonicalize',
  compares: 'frames/s of the proof of a sealed run, and whether it stays the same from 25,000 to 100,000 frames',
  async run(world, report) {
    const { pool } = await world.database('canonicalize');
    await tokens(pool, report);
    await joined(pool, report);
  },
};

/** Each frame stored by itself and an event of its own: the stream of one model, and the most work a frame can be. */
async function tokens(pool: Pool, report: Report): Promise<void> {
  const small = await sealedRun(pool, { frames: 25_000, framesASegment: 1 });
  const middle = await sealedRun(pool, { frames: TARGET_FRAMES, framesASegment: 1 });
  const large = await sealedRun(pool, { frames: 100_000, framesASegment: 1 });
  const taken = await interleave(ROUNDS, { small: small.prove, middle: middle.prove, large: large.prove });
  const rates = (proofs: readonly Proof[]) => proofs.map(({ framesPerSecond }) => framesPerSecond);
  report.add({
    benchmark: 'canonicalize',
    measure: 'a run of 50,000 frames, an event each',
    value: median(rates(taken.middle)),
    unit: 'frames/s',
    comparedWith: 'nothing: an absolute figure',
    target: TARGET.canonicalizeFramesPerSecond,
  });
  report.add({
    benchmark: 'canonicalize',
    measure: '100,000 frames, speed of each',
    value: medianRatio(rates(taken.large), rates(taken.small)),
    unit: 'x',
    comparedWith: 'a run of 25,000 frames',
    target: TARGET.canonicalizeLinear,
  });
  report.note('canonicalize', 'frames/s', {
    frames_25000: median(rates(taken.small)),
    frames_50000: median(rates(taken.middle)),
    frames_100000: median(rates(taken.large)),
    first_proof_with_replay_segments: middle.first.framesPerSecond,
  });
  report.note('canonicalize', 'other work of the worker waited at most, ms', {
    frames_25000: median(taken.small.map(({ blockedMs }) => blockedMs)),
    frames_100000: median(taken.large.map(({ blockedMs }) => blockedMs)),
  });
}

/** Frames stored sixteen together, their text joined: what a fast model gives on a busy worker. */
async function joined(pool: Pool, report: Report): Promise<void> {
  const run = await sealedRun(pool, { frames: TARGET_FRAMES, framesASegment: 16, joins: true });
  const taken = await interleave(ROUNDS, { joined: run.prove });
  report.add({
    benchmark: 'canonicalize',
    measure: 'the same, 16 frames a segment, joined',
    value: median(taken.joined.map(({ framesPerSecond }) => framesPerSecond)),
    unit: 'frames/s',
    comparedWith: 'nothing: an absolute figure',
    target: TARGET.canonicalizeFramesPerSecond,
  });
}

interface Proof {
  readonly framesPerSecond: number;
  /** The longest time that nothing else of the process had its turn. */
  readonly blockedMs: number;
}

/** A sealed run that was proven once, and how to prove it again. */
async function sealedRun(
  pool: Pool,
  shape: { frames: number; framesASegment: number; joins?: boolean },
): Promise<{ first: Proof; prove: () => Promise<Proof> }> {
  const run = await openRun(pool);
  const { runId } = run.lane;
  await fillLane(pool, run, shape);
  await settle(pool, run);
  await pool.query('vacuum analyze frame, delivery');
  const activity = createCanonicalize({ pool, log: pino({ level: 'silent' }) } as unknown as Dependencies);
  const timed = async (): Promise<Proof> => {
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const startedAt = performance.now();
    if (!(await activity(runId))) throw new Error(`run ${runId} was not proven`);
    const seconds = (performance.now() - startedAt) / 1_000;
    loop.disable();
    return { framesPerSecond: shape.frames / seconds, blockedMs: loop.max / 1e6 };
  };
  return {
    first: await timed(),
    prove: async () => {
      await pool.query(`update outbox set state = 'pending' where run_id = $1`, [runId]);
      return await timed();
    },
  };
}

import type { DeliveredEvent } from '../../contract/canonical.ts';
import { agUiLegacyEncoder } from '../../contract/encoders/ag-ui-legacy.ts';
import { agUiEncoder } from '../../contract/encoders/ag-ui.ts';
import { encodeDelivery } from '../../contract/encoders/canonical.ts';
import { customEncoder } from '../../contract/encoders/custom.ts';
import { lifecycleEncoder } from '../../contract/encoders/lifecycle.ts';
import type { LegEncoder } from '../../contract/encoders/lifecycle-encoding.ts';
import { initialProjection, project } from '../../contract/lifecycle-projection.ts';
import { deliveryPage } from '../../infra/postgres/delivery-page.ts';
import type { DeliveryRow } from '../../infra/postgres/delivery.ts';
import type { Pool } from '../../infra/postgres/pool.ts';
import { deliveredEvent } from '../../infra/postgres/run-log.ts';
import { readRun, type RunRow } from '../../infra/postgres/run.ts';
import type { Benchmark } from '../benchmark.ts';
import { fillLane, openRun, settle } from '../runs.ts';
import { interleave, median, percentile } from '../statistics.ts';
import { TARGET } from '../targets.ts';

const FRAMES = 20_000;
const BATCH = 500;
const ROUNDS = 5;

/** What one round of an encoding took: microseconds an event, and milliseconds for the slowest batches. */
interface Pass {
  readonly micros: number;
  readonly batchP95Ms: number;
}

export const encodings: Benchmark = {
  name: 'encodings',
  compares: 'rows of the log → projected by the lifecycle’s machine → frames of each encoding, in one thread',
  async run(world, report) {
    const { pool } = await world.database('encodings');
    const open = await openRun(pool);
    await fillLane(pool, open, { frames: FRAMES, framesASegment: 1 });
    await settle(pool, open);
    const run = await readRun(pool, open.lane.runId);
    const rows = await logOf(pool, run.thread_id);
    const taken = await interleave(ROUNDS, {
      canonical: async () => pass(rows, () => (row) => void encodeDelivery(run.thread_id, row)),
      lifecycle: async () => pass(rows, () => encoded(run, lifecycleEncoder)),
      custom: async () => pass(rows, () => encoded(run, customEncoder)),
      'ag-ui': async () => pass(rows, () => encoded(run, agUiEncoder)),
      'ag-ui-legacy': async () => pass(rows, () => encoded(run, agUiLegacyEncoder)),
    });
    for (const [name, passes] of Object.entries(taken)) {
      const comparedWith = 'nothing: an absolute figure';
      const micros = median(passes.map((each) => each.micros));
      report.add({
        benchmark: 'encodings',
        measure: name,
        value: micros,
        unit: 'µs',
        comparedWith,
        target: TARGET.encodeMicros,
      });
      const batch = median(passes.map((each) => each.batchP95Ms));
      const measure = `${name}, a batch of ${String(BATCH)}, p95`;
      report.add({
        benchmark: 'encodings',
        measure,
        value: batch,
        unit: 'ms',
        comparedWith,
        target: TARGET.encodeBatchMs,
      });
    }
  },
};

async function logOf(pool: Pool, threadId: string): Promise<DeliveryRow[]> {
  const rows: DeliveryRow[] = [];
  for (;;) {
    const page = await deliveryPage(pool, threadId, rows.length, { rows: 1_000, bytes: 1e9 });
    rows.push(...page);
    if (page.length < 1_000) return rows.filter(({ record }) => record === 'event');
  }
}

function encoded<State>(run: RunRow, encoder: LegEncoder<State>): (row: DeliveryRow) => void {
  let projection = initialProjection({ runId: run.run_id, threadId: run.thread_id, engine: run.engine });
  let { initial: state } = encoder;
  return (row) => {
    const event: DeliveredEvent = deliveredEvent(row);
    const projected = project(projection, event);
    projection = projected.state;
    for (const each of projected.events) {
      state = encoder.encode(state, each, { agentName: run.engine, deliverySeq: row.delivery_seq }).state;
    }
  };
}

function pass(rows: readonly DeliveryRow[], begin: () => (row: DeliveryRow) => void): Pass {
  const take = begin();
  const batches: number[] = [];
  const startedAt = performance.now();
  for (let at = 0; at < rows.length; at += BATCH) {
    const batchAt = performance.now();
    for (const row of rows.slice(at, at + BATCH)) take(row);
    batches.push(performance.now() - batchAt);
  }
  const micros = ((performance.now() - startedAt) * 1_000) / rows.length;
  return { micros, batchP95Ms: percentile(batches, 0.95) };
}

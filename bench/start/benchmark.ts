import { loadScenarios } from '../../activities/engines/builtin/providers/scenario.ts';
import type { Pool } from '../../infra/postgres/pool.ts';
import type { Benchmark } from '../benchmark.ts';
import { interleave, median, medianRatio, percentile, spread } from '../statistics.ts';
import { TARGET } from '../targets.ts';
import { BareTemporal } from './bare-temporal.ts';
import { postRun, type PostedRun } from './post-run.ts';

const ROUNDS = 30;
const WARM_UP_ROUNDS = 5;
const SCENARIO = 'text';

export const start: Benchmark = {
  name: 'start',
  compares:
    'POST /v1/runs → first model text on the stream, against a bare Temporal start → activity + the model’s first byte',
  async run(world, report) {
    const database = await world.database('start');
    const env = { TEMPORAL_ADDRESS: await world.temporal() };
    const [gateway] = await Promise.all([world.gateway(database, env), world.worker(database, env)]);
    const modelFirstByteMs = loadScenarios().get(SCENARIO)?.chunkDelayMs ?? 0;
    const bare = await BareTemporal.start(env.TEMPORAL_ADDRESS, modelFirstByteMs);
    world.onStop(() => bare.stop());

    const posted: PostedRun[] = [];
    const variants = {
      tidemark: async () => {
        const run = await postRun(gateway.url, `scripted/${SCENARIO}`);
        posted.push(run);
        return run.firstModelEventMs;
      },
      bare: async () => (await bare.measure()).modelMs,
      bareSplit: async () => (await bare.measure({ split: true })).modelMs,
    };
    await interleave(WARM_UP_ROUNDS, variants);
    posted.length = 0;
    const taken = await interleave(ROUNDS, variants);

    const comparedWith = `bare workflow start → activity + ${String(modelFirstByteMs)} ms of the scripted model`;
    const target = TARGET.firstModelText;
    const p50 = percentile(taken.tidemark, 0.5) / percentile(taken.bare, 0.5);
    const p95 = percentile(taken.tidemark, 0.95) / percentile(taken.bare, 0.95);
    report.add({
      benchmark: 'start',
      measure: 'POST → first model text, p50',
      value: p50,
      unit: 'x',
      comparedWith,
      target,
    });
    report.add({ benchmark: 'start', measure: 'POST → first model text, p95', value: p95, unit: 'x', comparedWith });
    report.add({
      benchmark: 'start',
      measure: 'the same, engines on a queue of their own',
      value: medianRatio(taken.tidemark, taken.bareSplit),
      unit: 'x',
      comparedWith: 'the same with the activity on another worker’s queue',
    });
    const firstEvent = median(posted.map(({ firstEventMs }) => firstEventMs));
    report.add({
      benchmark: 'start',
      measure: 'POST → turn.started, p50',
      value: firstEvent / median(taken.bare),
      unit: 'x',
      comparedWith: 'the same bare start',
    });
    report.note('start', 'POST → first model text, ms', spread(taken.tidemark));
    report.note('start', 'bare start → model, ms', spread(taken.bare));
    report.note('start', 'bare start → model on another queue, ms', spread(taken.bareSplit));
    report.note('start', 'POST → answer, ms', spread(posted.map(({ answeredMs }) => answeredMs)));
    report.note('start', 'POST → turn.started, ms', spread(posted.map(({ firstEventMs }) => firstEventMs)));
    report.note('start', 'where the time goes, ms after the accept', await milestones(database.pool, posted));
  },
};

/** When the rows say that things happened, each by the start of its transaction. */
async function milestones(pool: Pool, posted: readonly PostedRun[]): Promise<Record<string, number>> {
  const { rows } = await pool.query<Record<string, number>>(
    `select extract(epoch from r.started_at - r.created_at)::float8 * 1000 as turn_taken,
            extract(epoch from m.stored_at - r.created_at)::float8 * 1000 as session_opened,
            extract(epoch from s.started_at - r.created_at)::float8 * 1000 as model_step_opened,
            extract(epoch from f.stored_at - r.created_at)::float8 * 1000 as first_text_stored
       from run r
       join step s on s.run_id = r.run_id and s.step_index = 0
      cross join lateral (select min(stored_at) as stored_at from frame
                           where run_id = r.run_id and payload like '%session.opened%') m
      cross join lateral (select min(stored_at) as stored_at from frame
                           where run_id = r.run_id and payload like '%text-delta%') f
      where r.run_id = any($1)`,
    [posted.map(({ runId }) => runId)],
  );
  const names = ['turn_taken', 'session_opened', 'model_step_opened', 'first_text_stored'];
  return Object.fromEntries(names.map((name) => [name, median(rows.map((row) => row[name] ?? NaN))]));
}

import type { Benchmark } from '../benchmark.ts';
import type { Report } from '../report.ts';
import { openRuns } from '../runs.ts';
import { interleave, median, medianRatio, spread } from '../statistics.ts';
import { TARGET, type Target } from '../targets.ts';
import type { Database, World } from '../world.ts';
import { RawInsert } from './raw-insert.ts';
import { committerWriter, transactionWriter, type Carried } from './writers.ts';

const RUNS = [1, 16, 128];
/** The targets are for this many. */
const TARGET_RUNS = 128;
const ROUNDS = 5;
const ROUND_MS = 1_000;

export const append: Benchmark = {
  name: 'append',
  compares:
    'events/s through the group committer, against a transaction for each event and against a bare multi-row INSERT',
  async run(world, report) {
    const database = await world.database('append');
    for (const count of RUNS) await measure(count, world, database, report);
  },
};

async function measure(count: number, world: World, { url, pool }: Database, report: Report): Promise<void> {
  const committer = committerWriter(url);
  const transactions = transactionWriter(url);
  world.onStop(() => Promise.all([committer.stop(), transactions.stop()]));
  const runs = { committer: await openRuns(pool, count), transactions: await openRuns(pool, count) };
  const raw = new RawInsert(pool, await openRuns(pool, count));
  await committer.round(runs.committer, ROUND_MS / 2);
  await transactions.round(runs.transactions, ROUND_MS / 2);
  await raw.learn(runs.committer);

  let batch = 1;
  const carried: { committer: Carried[]; transactions: Carried[] } = { committer: [], transactions: [] };
  const rates = await interleave(ROUNDS, {
    committer: async () => {
      const round = await committer.round(runs.committer, ROUND_MS);
      batch = round.batch;
      return keep(carried.committer, round);
    },
    transactions: async () => keep(carried.transactions, await transactions.round(runs.transactions, ROUND_MS)),
    raw: () => raw.round('deliveries', batch, ROUND_MS),
    rawBoth: () => raw.round('deliveries and frames', batch, ROUND_MS),
  });

  const benchmark = 'append';
  const who = `${String(count)} ${count === 1 ? 'run' : 'concurrent runs'}`;
  const target = (of: Target) => (count === TARGET_RUNS ? { target: of } : {});
  report.add({
    benchmark,
    measure: `${who}, committer`,
    value: medianRatio(rates.committer, rates.transactions),
    unit: 'x',
    comparedWith: 'a transaction for each event, 32 connections',
    ...target(TARGET.appendOverTransactions),
  });
  report.add({
    benchmark,
    measure: `${who}, committer`,
    value: medianRatio(rates.committer, rates.raw),
    unit: 'x',
    comparedWith: `bare multi-row INSERT of the same delivery rows, ${batch.toFixed(1)} a statement`,
    ...target(TARGET.appendOverRawInsert),
  });
  report.add({
    benchmark,
    measure: `${who}, committer`,
    value: medianRatio(rates.committer, rates.rawBoth),
    unit: 'x',
    comparedWith: 'the same INSERT with the frame rows, which an append stores too',
  });
  report.note(benchmark, `${who}, events/s`, {
    committer: median(rates.committer),
    transactions: median(rates.transactions),
    raw: median(rates.raw),
    raw_with_frames: median(rates.rawBoth),
  });
  report.note(benchmark, `${who}, ms an event`, {
    committer: latencyOf(carried.committer),
    transactions: latencyOf(carried.transactions),
  });
}

function latencyOf(rounds: readonly Carried[]): ReturnType<typeof spread> {
  return spread(rounds.flatMap(({ latenciesMs }) => latenciesMs));
}

function keep(rounds: Carried[], round: Carried): number {
  rounds.push(round);
  return round.eventsPerSecond;
}

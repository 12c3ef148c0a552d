import { appendToLane } from '../../infra/postgres/lane.ts';
import { inTransaction } from '../../infra/postgres/transaction.ts';
import type { BenchProcess } from '../bench-process.ts';
import type { Benchmark } from '../benchmark.ts';
import type { Report } from '../report.ts';
import { openRun, textFrame } from '../runs.ts';
import { interleave, median, medianRatio } from '../statistics.ts';
import { TARGET } from '../targets.ts';
import type { Database, World } from '../world.ts';
import { latencyOf, runPhase, type Load, type Phase, type Publisher } from './phase.ts';

const STEADY = { eventsPerSecond: 20, forMs: 4_000, patienceMs: 10_000 };
const MANY = { ...STEADY, subscribers: 1_000 };
const ROUNDS = 3;
const LOAD: Load = { subscribers: 1_000, eventsPerSecond: 500, forMs: 4_000, patienceMs: 3_000 };

export const fanOut: Benchmark = {
  name: 'fan-out',
  compares:
    'commit → client at 1, 100 and 1,000 subscribers of a thread, against a plain Node http fan-out of the same events',
  async run(world, report) {
    const database = await world.database('fan-out');
    const [gateway, plainServer, clients] = await Promise.all([
      world.gateway(database),
      world.process('bench/fan-out/plain-server.ts'),
      world.process('bench/fan-out/subscribers.ts'),
    ]);
    const tidemark = await gatewayPublisher(database, gateway);
    const plain = await plainPublisher(database, plainServer);
    await few(clients, { tidemark, plain }, report);
    await many(clients, { tidemark, plain }, report);
    await underLoad(world, database, clients, report);
  },
};

interface Sides {
  readonly tidemark: Publisher;
  readonly plain: Publisher;
}

async function few(clients: BenchProcess, { tidemark, plain }: Sides, report: Report): Promise<void> {
  for (const subscribers of [1, 100]) {
    const load = { ...STEADY, subscribers };
    const taken = await interleave(1, {
      tidemark: () => runPhase(clients, tidemark, load),
      plain: () => runPhase(clients, plain, load),
    });
    addLatency(report, subscribers, taken);
  }
}

async function many(clients: BenchProcess, { tidemark, plain }: Sides, report: Report): Promise<void> {
  const taken = await interleave(ROUNDS, {
    tidemark: () => runPhase(clients, tidemark, MANY),
    plain: () => runPhase(clients, plain, MANY),
  });
  addLatency(report, MANY.subscribers, taken);
  const cpu = (phases: readonly Phase[]) => phases.map(({ cpuMicrosecondsADelivery }) => cpuMicrosecondsADelivery);
  const [first] = taken.tidemark;
  report.add({
    benchmark: 'fan-out',
    measure: '1,000 × 20/s, CPU a delivery',
    value: medianRatio(cpu(taken.tidemark), cpu(taken.plain)),
    unit: 'x',
    comparedWith: `plain Node http writing the same events, ${median(cpu(taken.plain)).toFixed(1)} µs`,
    target: TARGET.fanOutCpu,
  });
  report.add({
    benchmark: 'fan-out',
    measure: '1,000 × 20/s, memory a connection',
    value: first?.kilobytesAConnection ?? NaN,
    unit: 'KB',
    comparedWith: `plain Node http: ${taken.plain[0]?.kilobytesAConnection.toFixed(1) ?? '?'} KB`,
    target: TARGET.fanOutKilobytesAConnection,
  });
  report.note('fan-out', 'CPU a delivery, µs', {
    gateway: median(cpu(taken.tidemark)),
    plain: median(cpu(taken.plain)),
  });
}

/** Both on fresh processes: what is left queued in one that could not keep up would spoil what follows. */
async function underLoad(world: World, database: Database, clients: BenchProcess, report: Report): Promise<void> {
  const tidemark = await runPhase(clients, await gatewayPublisher(database, await world.gateway(database)), LOAD);
  const plainServer = await world.process('bench/fan-out/plain-server.ts');
  const plain = await runPhase(clients, await plainPublisher(database, plainServer), LOAD);
  await plainServer.stop();
  const benchmark = 'fan-out';
  const comparedWith = `a write per event: ${Math.round(plain.deliveriesPerSecond).toLocaleString('en')} deliveries/s, p99 ${latencyOf([plain]).p99.toFixed(0)} ms`;
  report.add({
    benchmark,
    measure: '1,000 × 500/s, delivered',
    value: tidemark.delivered,
    unit: '%',
    comparedWith: `what was due; a write per event: ${(plain.delivered * 100).toFixed(0)} %`,
    target: TARGET.loadDelivered,
  });
  report.add({
    benchmark,
    measure: '1,000 × 500/s, commit → client, p99',
    value: latencyOf([tidemark]).p99,
    unit: 'ms',
    comparedWith,
    target: TARGET.loadP99Ms,
  });
  report.add({
    benchmark,
    measure: '1,000 × 500/s, deliveries/s',
    value: tidemark.deliveriesPerSecond / plain.deliveriesPerSecond,
    unit: 'x',
    comparedWith,
    target: TARGET.loadOverWriteAnEvent,
  });
  report.note(benchmark, 'load, gateway', { ...tidemark, latenciesMs: latencyOf([tidemark]) });
  report.note(benchmark, 'load, a write per event', { ...plain, latenciesMs: latencyOf([plain]) });
}

function addLatency(report: Report, subscribers: number, taken: { tidemark: Phase[]; plain: Phase[] }): void {
  const [ours, plain] = [latencyOf(taken.tidemark), latencyOf(taken.plain)];
  const who = `${subscribers.toLocaleString('en')} ${subscribers === 1 ? 'subscriber' : 'subscribers'}`;
  const measured = { benchmark: 'fan-out', unit: 'ms' } as const;
  const says = (ms: number) => `plain Node http, from a call instead of a commit: ${ms.toFixed(1)} ms`;
  report.add({
    ...measured,
    measure: `${who} × 20/s, commit → client, p50`,
    value: ours.p50,
    comparedWith: says(plain.p50),
  });
  report.add({
    ...measured,
    measure: `${who} × 20/s, commit → client, p99`,
    value: ours.p99,
    comparedWith: says(plain.p99),
  });
  const lost = taken.tidemark.filter(({ delivered }) => delivered < 1).length;
  if (lost > 0)
    report.say(`  ${who}: not all was delivered in ${String(lost)} of ${String(taken.tidemark.length)} rounds`);
}

/** Commits to a thread of its own; the gateway does the rest. */
async function gatewayPublisher({ pool }: Database, server: BenchProcess): Promise<Publisher> {
  const { lane, threadId } = await openRun(pool);
  let n = 0;
  return {
    server,
    url: `${server.url}/v1/threads/${threadId}/events?tail=1`,
    async publish(count) {
      const at = Date.now();
      const frames = Array.from({ length: count }, () => ({ at, frame: textFrame(n++) }));
      const { headSeq } = await inTransaction(pool, (client) => appendToLane(client, { ...lane, frames }));
      return headSeq;
    },
  };
}

/** Events of the same size, an id each. */
async function plainPublisher({ pool }: Database, server: BenchProcess): Promise<Publisher> {
  const { rows } = await pool.query<{ body: string; thread_id: string }>(
    `select body, thread_id from delivery order by length(body) desc limit 1`,
  );
  const like = rows[0];
  let seq = 0;
  return {
    server,
    url: server.url,
    publish(count) {
      for (let i = 0; i < count; i++) {
        seq += 1;
        const data = JSON.stringify({ threadId: like?.thread_id, event: JSON.parse(like?.body ?? '{}') as unknown });
        server.tell({ frame: `id: ${String(seq)}\nevent: canonical\ndata: ${data}\n\n` });
      }
      return Promise.resolve(seq);
    },
  };
}

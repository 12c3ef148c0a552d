import { pino } from 'pino';
import { GroupCommitter } from '../../activities/group-committer.ts';
import { appendToLane } from '../../infra/postgres/lane.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import { inTransaction } from '../../infra/postgres/transaction.ts';
import { textFrame, type OpenRun } from '../runs.ts';

/** What a way to write carried in one round. */
export interface Carried {
  readonly eventsPerSecond: number;
  readonly latenciesMs: readonly number[];
  /** Events a transaction, on average. */
  readonly batch: number;
}

/** A way to append events of many runs, each run one event at a time. */
export interface Writer {
  round(runs: readonly OpenRun[], forMs: number): Promise<Carried>;
  stop(): Promise<void>;
}

/** As many connections as the research's figures were taken with; the committer uses one of its pool. */
const CONNECTIONS = 32;

/** The real committer of a worker process. */
export function committerWriter(databaseUrl: string): Writer {
  const pool = createPool(databaseUrl, { max: 20, applicationName: 'bench-committer' });
  let transactions = 0;
  pool.on('acquire', () => void (transactions += 1));
  const committer = new GroupCommitter(pool, pino({ level: 'silent' }));
  return {
    async round(runs, forMs) {
      const before = transactions;
      const writers = new Map(runs.map((run) => [run, committer.writer(run.lane)]));
      const carried = await carry(runs, forMs, async (run, n) => {
        const writer = writers.get(run);
        writer?.emit(textFrame(n));
        await writer?.drain();
      });
      return { ...carried, batch: carried.latenciesMs.length / (transactions - before) };
    },
    stop: () => pool.end(),
  };
}

/** The same append without the committer: a transaction for each event. */
export function transactionWriter(databaseUrl: string): Writer {
  const pool = createPool(databaseUrl, { max: CONNECTIONS, applicationName: 'bench-transactions' });
  return {
    round: (runs, forMs) =>
      carry(runs, forMs, async (run, n) => {
        const frames = [{ at: Date.now(), frame: textFrame(n) }];
        await inTransaction(pool, (client) => appendToLane(client, { ...run.lane, frames }));
      }),
    stop: () => pool.end(),
  };
}

async function carry(
  runs: readonly OpenRun[],
  forMs: number,
  append: (run: OpenRun, n: number) => Promise<void>,
): Promise<Carried> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const endAt = startedAt + forMs;
  const write = async (run: OpenRun): Promise<void> => {
    for (let n = 0; performance.now() < endAt; n++) {
      const at = performance.now();
      await append(run, n);
      latenciesMs.push(performance.now() - at);
    }
  };
  await Promise.all(runs.map(write));
  return { eventsPerSecond: latenciesMs.length / ((performance.now() - startedAt) / 1_000), latenciesMs, batch: 1 };
}

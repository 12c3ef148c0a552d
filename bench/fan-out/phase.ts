import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchProcess } from '../bench-process.ts';
import { spread } from '../statistics.ts';
import { nowMs, type SubscriberOrder, type SubscriberReport } from './protocol.ts';

/** A server whose subscribers get what is published. */
export interface Publisher {
  readonly server: BenchProcess;
  readonly url: string;
  /** Publishes so many events; gives the cursor of the last one, once they are on their way to the subscribers. */
  publish(count: number): Promise<number>;
}

export interface Load {
  readonly subscribers: number;
  readonly eventsPerSecond: number;
  readonly forMs: number;
  /** How long subscribers that are behind are waited for. */
  readonly patienceMs: number;
}

export interface Phase {
  readonly published: number;
  readonly latenciesMs: readonly number[];
  readonly cpuMicrosecondsADelivery: number;
  readonly kilobytesAConnection: number;
  /** Of the deliveries that were due, the share that reached the subscribers in time. */
  readonly delivered: number;
  readonly deliveriesPerSecond: number;
  /** Share of a core that the server used, and the readers: near 1 is a limit of theirs. */
  readonly busy: { readonly server: number; readonly readers: number };
  readonly cut: number;
  readonly gaps: number;
}

const SAMPLED = 50;

/** Connects subscribers, publishes at a steady rate whatever becomes of it, and looks at what arrived when. */
export async function runPhase(clients: BenchProcess, publisher: Publisher, load: Load): Promise<Phase> {
  const { server, url } = publisher;
  const order = async (message: SubscriberOrder): Promise<SubscriberReport> => await clients.ask(message);
  const alone = await server.usage();
  await order({ do: 'connect', url, count: load.subscribers, sampled: SAMPLED });
  await sleep(500);
  const first = await publisher.publish(1);
  await sleep(500);
  await order({ do: 'begin' });

  const before = await server.usage();
  const readersBefore = await clients.usage();
  const publishedAt: number[] = [];
  const startedAt = performance.now();
  let last = first;
  for (;;) {
    const elapsedMs = performance.now() - startedAt;
    const due = Math.floor((Math.min(elapsedMs, load.forMs) / 1_000) * load.eventsPerSecond) - publishedAt.length;
    if (due > 0) {
      last = await publisher.publish(due);
      publishedAt.push(...Array.from({ length: due }, nowMs));
    } else if (elapsedMs >= load.forMs) break;
    else await sleep(1);
  }
  const giveUpAt = performance.now() + load.patienceMs;
  let report = await order({ do: 'report' });
  while (report.slowest < last && performance.now() < giveUpAt) {
    await sleep(50);
    report = await order({ do: 'report' });
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await server.usage();
  const readersAfter = await clients.usage();
  await order({ do: 'disconnect' });
  await sleep(300);

  const due = publishedAt.length * load.subscribers;
  const latenciesMs: number[] = [];
  for (let i = 0; i < report.seen.length; i += 2) {
    const at = publishedAt[(report.seen[i] ?? 0) - first - 1];
    if (at !== undefined) latenciesMs.push((report.seen[i + 1] ?? NaN) - at);
  }
  const sampledDue = publishedAt.length * Math.min(SAMPLED, load.subscribers);
  const delivered = report.slowest >= last && report.gaps === 0 ? 1 : latenciesMs.length / sampledDue;
  return {
    published: publishedAt.length,
    latenciesMs,
    cpuMicrosecondsADelivery: ((after.cpuMs - before.cpuMs) * 1_000) / (due * delivered),
    kilobytesAConnection: (before.residentKilobytes - alone.residentKilobytes) / load.subscribers,
    delivered,
    deliveriesPerSecond: (due * delivered) / seconds,
    busy: {
      server: (after.cpuMs - before.cpuMs) / 1_000 / seconds,
      readers: (readersAfter.cpuMs - readersBefore.cpuMs) / 1_000 / seconds,
    },
    cut: report.cut,
    gaps: report.gaps,
  };
}

export function latencyOf(phases: readonly Phase[]): ReturnType<typeof spread> {
  return spread(phases.flatMap(({ latenciesMs }) => latenciesMs));
}

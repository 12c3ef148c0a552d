import { Random } from './random.ts';

/** `agent`: an engine with its own loop, a process; the others are the built-in engine's. */
export type RunKind = 'answer' | 'talk' | 'parallel' | 'store' | 'fetch' | 'ask' | 'cancel' | 'agent';

export interface PlannedRun {
  readonly name: string;
  readonly kind: RunKind;
  readonly atMs: number;
  /** For `cancel`: how long after it was accepted. */
  readonly cancelAfterMs: number;
}

export type FaultKind = 'kill' | 'pause' | 'restart';
export type Target = 'worker' | 'gateway' | 'postgres' | 'temporal';

export interface PlannedFault {
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly target: Target;
  readonly slot: 0 | 1;
  /** How long it is away: dead before the next one starts, or stopped before it goes on. */
  readonly forMs: number;
}

export interface Plan {
  readonly seed: number;
  readonly stormMs: number;
  /** The runs of each thread, in the order of their start. */
  readonly threads: readonly (readonly PlannedRun[])[];
  readonly faults: readonly PlannedFault[];
}

const MIX: readonly RunKind[] = [
  ...(['answer', 'parallel', 'parallel', 'ask', 'cancel', 'cancel', 'fetch', 'fetch'] as const),
  ...(['talk', 'talk', 'talk', 'store', 'store', 'store', 'agent', 'agent'] as const),
];

/** What the storm will do, all of it decided by the seed; when it meets what is the machine's. */
export function planStorm(seed: number, size: { stormMs: number; threads: number; runs: number }): Plan {
  const random = new Random(seed);
  const threads: PlannedRun[][] = Array.from({ length: size.threads }, () => []);
  for (let i = 0; i < size.runs; i++) {
    // every kind is there, whatever the seed
    const kind = i < MIX.length ? (MIX[i] ?? 'answer') : random.pick(MIX);
    const atMs = i < size.threads ? random.between(0, 2_000) : random.between(2_000, size.stormMs - 5_000);
    const cancelAfterMs = random.between(0, 4_000);
    threads[i % size.threads]?.push({ name: `r${String(i)}x`, kind, atMs, cancelAfterMs });
  }
  for (const runs of threads) runs.sort((a, b) => a.atMs - b.atMs);
  return { seed, stormMs: size.stormMs, threads, faults: planFaults(random, size.stormMs) };
}

/** Each of the faults once in every round, in an order of its own; so that no short storm leaves one out. */
const ROUND: readonly (readonly [FaultKind, Target, number, number])[] = [
  ['kill', 'worker', 200, 2_000],
  ['pause', 'worker', 17_000, 20_000],
  ['kill', 'gateway', 200, 2_000],
  ['kill', 'worker', 200, 2_000],
  ['kill', 'worker', 200, 2_000],
  ['pause', 'gateway', 2_000, 20_000],
  ['kill', 'postgres', 200, 4_000],
  ['kill', 'temporal', 200, 4_000],
  ['restart', 'worker', 0, 0],
  ['restart', 'gateway', 0, 0],
];

function planFaults(random: Random, stormMs: number): PlannedFault[] {
  const faults: PlannedFault[] = [];
  let left: (typeof ROUND)[number][] = [];
  for (let atMs = 4_000; atMs < stormMs - 2_000; atMs += random.between(2_000, 5_000)) {
    if (left.length === 0) left = [...ROUND];
    const [fault] = left.splice(random.between(0, left.length - 1), 1);
    if (fault === undefined) break;
    const [kind, target, least, most] = fault;
    faults.push({ atMs, kind, target, slot: random.next() < 0.5 ? 0 : 1, forMs: random.between(least, most) });
  }
  return faults;
}

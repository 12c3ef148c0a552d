// `npm run bench [-- name …]`: measures this checkout against bare equivalents, on servers of its own, and prints the ratios
// beside the targets. Absolute figures move with the machine's mood; only ratios taken in one run count.
import { writeFile } from 'node:fs/promises';
import { StartError } from '../infra/dev/start-error.ts';
import { append } from './append/benchmark.ts';
import type { Benchmark } from './benchmark.ts';
import { canonicalize } from './canonicalize/benchmark.ts';
import { encodings } from './encodings/benchmark.ts';
import { fanOut } from './fan-out/benchmark.ts';
import { machineFacts } from './machine.ts';
import { replay } from './replay/benchmark.ts';
import { Report } from './report.ts';
import { start } from './start/benchmark.ts';
import { World } from './world.ts';

const BENCHMARKS: readonly Benchmark[] = [start, append, replay, fanOut, canonicalize, encodings];
const RESULTS = new URL('results.json', import.meta.url);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
process.exit(await main(process.argv.slice(2)));

async function main(names: readonly string[]): Promise<number> {
  const known = BENCHMARKS.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no benchmark ${unknown.join(', ')}. There are: ${known.join(', ')}.\n`);
    return 2;
  }
  const chosen = BENCHMARKS.filter(({ name }) => names.length === 0 || names.includes(name));
  const world = await World.create(say, stop.signal);
  try {
    await Promise.race([measure(world, chosen), aborted(stop.signal)]);
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 130;
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  } finally {
    await world.stop();
  }
}

async function measure(world: World, chosen: readonly Benchmark[]): Promise<void> {
  const report = new Report(say);
  const startedAt = performance.now();
  for (const benchmark of chosen) {
    say(`\n${benchmark.name}: ${benchmark.compares}`);
    await world.scope(() => benchmark.run(world, report));
  }
  const machine = await machineFacts(world);
  say(`\n${report.table()}\n`);
  say(
    Object.entries(machine)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(' · '),
  );
  say(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s; written to bench/results.json`);
  const results = { taken_at: new Date().toISOString(), machine, measures: report.measures, facts: report.facts };
  await writeFile(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function aborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });
}

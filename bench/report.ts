import type { Target } from './targets.ts';

/** One figure of a benchmark, and what it was measured against. */
export interface Measure {
  readonly benchmark: string;
  readonly measure: string;
  readonly value: number;
  readonly unit: 'x' | '%' | 'ms' | 'µs' | 'KB' | 'frames/s';
  readonly comparedWith: string;
  readonly target?: Target;
  readonly met?: boolean;
}

/** Collects what the benchmarks find: figures for the table, facts for who wants to know why. */
export class Report {
  readonly measures: Measure[] = [];
  readonly facts: Record<string, Record<string, unknown>> = {};
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  say(line: string): void {
    this.#say(line);
  }

  add(measure: Omit<Measure, 'met'>): void {
    const { value, target } = measure;
    const met = target === undefined ? {} : { met: meets(value, target) };
    this.measures.push({ ...measure, value: round(value), ...met });
  }

  /** Absolute figures: of use beside their neighbours only, since the machine is another one tomorrow. */
  note(benchmark: string, name: string, fact: unknown): void {
    const rounded = roundAll(fact);
    (this.facts[benchmark] ??= {})[name] = rounded;
    this.#say(`  ${name}: ${typeof rounded === 'string' ? rounded : JSON.stringify(rounded)}`);
  }

  table(): string {
    const rows = this.measures.map((measure) => [
      measure.benchmark,
      measure.measure,
      shown(measure.value, measure.unit),
      measure.target === undefined ? '' : bound(measure.target, measure.unit),
      measure.met === undefined ? '' : measure.met ? 'met' : 'MISSED',
      measure.comparedWith,
    ]);
    const all = [['benchmark', 'measure', 'value', 'target', '', 'compared with'], ...rows];
    const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
    return all
      .map((row) =>
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      )
      .join('\n');
  }
}

function meets(value: number, { atLeast, atMost }: Target): boolean {
  return (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
}

function bound(target: Target, unit: Measure['unit']): string {
  if (target.atLeast !== undefined) return `≥ ${shown(target.atLeast, unit)}`;
  return target.atMost === undefined ? '' : `≤ ${shown(target.atMost, unit)}`;
}

function shown(value: number, unit: Measure['unit']): string {
  if (unit === '%') return `${(value * 100).toFixed(1)} %`;
  if (unit === 'x') return `${value.toFixed(2)} ×`;
  return `${value >= 1_000 ? Math.round(value).toLocaleString('en') : String(round(value))} ${unit}`;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

function roundAll(fact: unknown): unknown {
  if (typeof fact === 'number') return Math.abs(fact) >= 1_000 ? Math.round(fact) : round(fact);
  if (Array.isArray(fact)) return fact.map(roundAll);
  if (typeof fact !== 'object' || fact === null) return fact;
  return Object.fromEntries(Object.entries(fact).map(([name, value]) => [name, roundAll(value)]));
}

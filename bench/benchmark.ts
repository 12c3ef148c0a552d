import type { Report } from './report.ts';
import type { World } from './world.ts';

/** One benchmark: `npm run bench -- <name>`. */
export interface Benchmark {
  readonly name: string;
  /** What is compared with what, for the reader of the output. */
  readonly compares: string;
  run(world: World, report: Report): Promise<void>;
}

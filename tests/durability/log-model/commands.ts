import { fc } from '../../../contract/property-testkit.ts';

/** What a run's writers do to the log, one command after the other; the runs do it at the same time. */
export type LogCommand =
  /** A new attempt takes a step: it fences the ones before and withdraws what they said. */
  | { readonly do: 'open'; readonly step: number }
  | { readonly do: 'open-twice'; readonly step: number }
  | { readonly do: 'say'; readonly step: number; readonly words: number }
  /** An attempt that was fenced speaks: nothing of it may be stored. */
  | { readonly do: 'say-late'; readonly step: number }
  /** A new attempt takes a step while the old one speaks: stored and withdrawn, or refused. */
  | { readonly do: 'open-while-saying'; readonly step: number }
  | { readonly do: 'end'; readonly step: number }
  | { readonly do: 'end-late'; readonly step: number }
  | { readonly do: 'settle' }
  /** Settles twice at once while a step speaks: stored before the end, or refused. */
  | { readonly do: 'settle-while-saying'; readonly step: number }
  | { readonly do: 'canonicalize' };

/** The commands of each run of each thread. */
export type LogPlan = readonly (readonly (readonly LogCommand[])[])[];

const step = fc.nat({ max: 2 });
const stepped = <Name extends string>(name: Name) => fc.record({ do: fc.constant(name), step });

const command: fc.Arbitrary<LogCommand> = fc.oneof(
  { weight: 4, arbitrary: stepped('open') },
  { weight: 1, arbitrary: stepped('open-twice') },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('say' as const), step, words: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: stepped('say-late') },
  { weight: 3, arbitrary: stepped('open-while-saying') },
  { weight: 2, arbitrary: stepped('end') },
  { weight: 1, arbitrary: stepped('end-late') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  { weight: 1, arbitrary: stepped('settle-while-saying') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('canonicalize' as const) }) },
);

const run = fc.array(command, { minLength: 6, maxLength: 18 });

/** Two threads of up to four runs: writers that share a thread, and writers that share only a committer. */
export const logPlan: fc.Arbitrary<LogPlan> = fc.array(fc.array(run, { minLength: 2, maxLength: 4 }), {
  minLength: 2,
  maxLength: 2,
});

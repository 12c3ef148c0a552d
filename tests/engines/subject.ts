import type { TidemarkConfigInput } from '../../infra/tidemark-config.ts';

/** What every engine is tried with, and how the table in `docs/engines.md` calls it. */
export const SCENARIOS = {
  text: 'text',
  reasoning: 'reasoning',
  tool: 'tool',
  parallel: 'parallel tools',
  approve: 'permission: approve',
  always: 'permission: always',
  edit: 'permission: edit',
  reject: 'permission: reject',
  signal: 'permission by a Temporal signal',
  question: 'question',
  plan: 'plan',
  file: 'file change with diff',
  child: 'sub-agent',
  usage: 'usage',
  commands: 'commands',
  'cancel-early': 'cancel before the first frame',
  'cancel-text': 'cancel in a text',
  'cancel-tool': 'cancel in a tool',
  'cancel-question': 'cancel at a question',
  crash: 'engine crash',
  silent: 'engine silent',
  flood: 'engine floods',
  malformed: 'malformed frame',
  remembers: 'next run takes the session up',
  'worker-killed': 'worker killed in a turn',
  deploy: 'worker replaced in a turn',
  'deploy-question': 'worker replaced at a question',
  park: 'parks at a question',
  zombie: 'frozen worker writes nothing',
} as const;
export type ScenarioName = keyof typeof SCENARIOS;

/** How an engine is brought to do what a scenario is about. */
export interface Trial {
  readonly prompt: string;
  /** Of the run after it in the same thread. */
  readonly next?: string;
  /** What the text that the engine says in the end contains. */
  readonly says?: string;
  /** Of `question`: the decision that answers it. */
  readonly answer?: object;
  /** Of a turn that nothing disturbs: what its engine is configured with beside its settings, where it does so only then. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Of `edit`. */
  readonly editedArgs?: Readonly<Record<string, unknown>>;
  /** How a run ends that fails, where this engine says it otherwise than most. */
  readonly code?: string;
}

/** Why an engine cannot: what a skipped test and the table say. */
export interface Cannot {
  readonly cannot: string;
}

/** An engine as the conformance suite starts and asks it. */
export interface EngineSubject {
  /** The row of the table, and the name of its record. */
  readonly name: string;
  /** Called once, before the tests; `stop` is called behind them. */
  start(): Promise<StartedSubject>;
  /** Whether another worker, or the next run, takes its session up. */
  readonly resumes: boolean;
  readonly trials: Readonly<Record<ScenarioName, Trial | Cannot>>;
}

export interface StartedSubject {
  readonly settings: EngineSettings;
  /** Of gateway and worker processes, beside TIDEMARK_CONFIG. */
  readonly env?: Readonly<Record<string, string>>;
  stop?(): Promise<void>;
}

/** An engine of `tidemark.config.ts`. */
export type EngineSettings = Exclude<NonNullable<TidemarkConfigInput['engines']>[string], false>;

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Interrupt, Run } from '../../fixtures/rest.ts';
import type { Effects } from './effects.ts';
import type { Ledger } from './ledger.ts';
import type { PatientClient } from './patient-client.ts';
import type { Plan, PlannedRun } from './plan.ts';

export interface StartedRun {
  readonly planned: PlannedRun;
  readonly runId: string;
  readonly threadId: string;
}

export interface LoadOptions {
  readonly plan: Plan;
  readonly client: PatientClient;
  readonly effects: Effects;
  readonly ledger: Ledger;
  readonly home: string;
  readonly onThread: (threadId: string) => void;
}

/** The users of a storm: they start runs, cancel some, and a robot answers what is asked. */
export class Load {
  readonly runs: StartedRun[] = [];
  readonly #options: LoadOptions;
  readonly #byRun = new Map<string, StartedRun>();
  readonly #answers = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Starts every planned run at its time; returns when all are accepted and all cancels are. */
  async start(): Promise<void> {
    const beganAt = performance.now();
    await Promise.all(
      this.#options.plan.threads.map(async (runs) => {
        let threadId: string | null = null;
        const cancels: Promise<void>[] = [];
        for (const planned of runs) {
          await sleep(Math.max(0, planned.atMs - (performance.now() - beganAt)));
          const run: StartedRun = await this.#start(planned, threadId);
          threadId = run.threadId;
          if (planned.kind === 'cancel') cancels.push(this.#cancel(run));
        }
        await Promise.all(cancels);
      }),
    );
  }

  /** Answers what is asked until it is stopped. */
  async robot(): Promise<void> {
    const { client } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const { body } = await client.call<{ data: (Interrupt & { run_id: string })[] }>(
        'GET',
        '/v1/interrupts?status=open',
      );
      for (const interrupt of body.data) {
        const run = this.#byRun.get(interrupt.run_id);
        // not before its files are watched
        if (run === undefined || this.#answers.has(interrupt.interrupt_id)) continue;
        this.#answers.set(interrupt.interrupt_id, this.#answer(interrupt, run));
      }
      await sleep(400);
    }
    await Promise.all(this.#answers.values());
  }

  stopRobot(): void {
    this.#stopping.abort();
  }

  async #start(planned: PlannedRun, threadId: string | null): Promise<StartedRun> {
    const { client, effects, home, ledger, onThread } = this.#options;
    const path = threadId === null ? '/v1/runs' : `/v1/threads/${threadId}/runs`;
    const key = { 'idempotency-key': randomUUID() };
    const engine = planned.kind === 'agent' ? { engine: 'agent' } : {};
    const { status, body } = await client.call<Run>('POST', path, { input: this.#inputOf(planned), ...engine }, key);
    if (status !== 201 && status !== 200) throw new Error(`POST ${path}: ${String(status)} ${JSON.stringify(body)}`);
    if (status === 200) ledger.count('run found again by its key');
    if (threadId === null) {
      await effects.watchThread(home, body.thread_id);
      onThread(body.thread_id);
    }
    const run = { planned, runId: body.run_id, threadId: body.thread_id };
    this.runs.push(run);
    this.#byRun.set(run.runId, run);
    ledger.count(`run: ${planned.kind}`);
    return run;
  }

  #inputOf({ kind, name }: PlannedRun): string {
    const { effects } = this.#options;
    if (kind === 'store') return `STORE ${name}.txt`;
    if (kind === 'agent') return AGENT_SCRIPT;
    if (kind === 'fetch') return `FETCH http://${effects.host}/${name}`;
    const key = { answer: 'ANSWER', talk: 'TALK', parallel: 'PARALLEL', ask: 'ASK', cancel: 'SLOW' }[kind];
    return `${key} ${name}`;
  }

  async #cancel({ planned, runId }: StartedRun): Promise<void> {
    const { client, ledger } = this.#options;
    await sleep(planned.cancelAfterMs);
    const { status } = await client.call('POST', `/v1/runs/${runId}/cancel`);
    if (status !== 202 && status !== 200) ledger.fault(`cancel of ${runId} answered ${String(status)}`);
  }

  /** The same answer, from two sides at once and until one has it: it is recorded once and never refused. */
  async #answer({ interrupt_id: id }: Interrupt, run: StartedRun): Promise<void> {
    const { client, ledger } = this.#options;
    const decision = decisionFor(run.planned);
    const ask = async (): Promise<void> => {
      const { status, body } = await client.call('POST', `/v1/interrupts/${id}/resolve`, decision);
      if (status !== 200) ledger.fault(`answer to ${id} got ${String(status)}: ${JSON.stringify(body)}`);
    };
    await Promise.all([ask(), ask()]);
    ledger.count('interrupt answered, twice each');
  }
}

/** What it says, and what it says when it is told that it was stopped (`fixtures/engines/acp-agent-turn.ts`). */
const AGENT_SCRIPT = [
  'text The agent begins. ',
  'permission',
  'text The agent ends.',
  'after-stop',
  'text It goes on.',
].join('\n');

/** Decided by the run's name, so that a replayed storm decides the same. */
function decisionFor({ kind, name }: PlannedRun): unknown {
  if (kind === 'ask') return numberOf(name) % 4 === 0 ? { dismissed: true } : { values: { answer: 'blue' } };
  if (kind === 'agent') return { decision: 'approve' };
  if (isRejected(name)) return { decision: 'reject', message: 'not now' };
  if (numberOf(name) % 5 === 1) return { decision: 'edit', edited_args: { path: `${name}.txt`, content: 'edited' } };
  return { decision: 'approve' };
}

export function isRejected(name: string): boolean {
  return numberOf(name) % 5 === 0;
}

function numberOf(name: string): number {
  return Number(/\d+/.exec(name)?.[0] ?? 0);
}

import { Client, Connection } from '@temporalio/client';
import { pidsOf } from '../../activities/engines/process/end-processes.ts';
import { readProcesses } from '../../activities/engines/process/process-table.ts';
import { startStack, type Stack, type StackProcess } from '../../infra/testing/stack.ts';
import { engineConfig } from '../fixtures/engine-config.ts';
import { Rest, textOf, type Interrupt, type Run, type SaidEvent } from '../fixtures/rest.ts';
import type { EngineSettings, EngineSubject, ScenarioName, StartedSubject } from './subject.ts';

/** How patient the suite's engine is: as it is configured, ended when it is silent, parked when a person takes long. */
export type Patience = 'usual' | 'stalls' | 'parks';

const STALL_SECONDS = 2;
/** A worker that is to stop waits so long for a turn that has no end. */
const HANDOVER_SECONDS = '2';
const HOT_MINUTES = 0.01;
/** A heartbeat has to time out first, and an engine that is silent has its grace. */
const ENDS_WITHIN_MS = 90_000;

/** One engine on a stack of its own, used as a person would. */
export class EngineWorld {
  readonly stack: Stack;
  readonly rest: Rest;
  readonly #started: StartedSubject;
  readonly #runs: string[] = [];

  private constructor(stack: Stack, started: StartedSubject) {
    this.stack = stack;
    this.rest = new Rest(stack.url);
    this.#started = started;
  }

  static async start(subject: EngineSubject): Promise<EngineWorld> {
    const started = await subject.start();
    const { settings } = started;
    const file = await engineConfig({
      ...ownEngines(subject, settings),
      usual: settings,
      stalls: { ...settings, stallSeconds: STALL_SECONDS },
      parks: { ...settings, hotMinutes: HOT_MINUTES },
    });
    const env = { TIDEMARK_HANDOVER_SECONDS: HANDOVER_SECONDS, ...started.env, TIDEMARK_CONFIG: file };
    const stack = await startStack({ env });
    return new EngineWorld(stack, started);
  }

  async stop(): Promise<void> {
    await this.stack.stop();
    await this.#started.stop?.();
  }

  /** The one that was started last. */
  get worker(): StackProcess {
    const worker = this.stack.workers.at(-1);
    if (worker === undefined) throw new Error('there is no worker');
    return worker;
  }

  /** Starts a worker where a test has left none. */
  async ensureWorker(): Promise<void> {
    const state = await Promise.race([this.worker.exited, Promise.resolve('runs')]);
    if (state !== 'runs') await this.stack.startWorker();
  }

  /** A worker in the place of the one that is there, which has nothing to do, full with a single turn. */
  async startFullWorker(): Promise<StackProcess> {
    await this.worker.end();
    return await this.stack.startWorker({ TIDEMARK_ENGINE_SLOTS: '1' });
  }

  async begin(input: string, engine: Patience | ScenarioName = 'usual', threadId?: string): Promise<Run> {
    const run = await this.rest.startRun(input, { engine }, threadId);
    this.#runs.push(run.run_id);
    return run;
  }

  /** The run with its end and its proof. */
  async over({ run_id: runId }: Run): Promise<Run> {
    const look = async (): Promise<Run | null> => {
      const { body } = await this.rest.send<Run>('GET', `/v1/runs/${runId}?wait=5`);
      return body.canonical_state.startsWith('complete') ? body : null;
    };
    return await this.rest.until(`the end of ${runId}`, look, ENDS_WITHIN_MS);
  }

  /** Waits until something is said. A run that ends without it is told at once. */
  async said(run: Run, holds: (events: readonly SaidEvent[]) => boolean): Promise<readonly SaidEvent[]> {
    const look = async (): Promise<readonly SaidEvent[] | null> => {
      const events = await this.rest.events(run);
      if (holds(events)) return events;
      if (!events.some(({ kind }) => kind === 'turn.completed')) return null;
      throw new Error(`the run ended without it: ${JSON.stringify(events.at(-1))}`);
    };
    return await this.rest.until(`what ${run.run_id} should say`, look, ENDS_WITHIN_MS);
  }

  async text(run: Run): Promise<readonly SaidEvent[]> {
    return await this.said(run, (events) => textOf(events) !== '');
  }

  async cancel({ run_id: runId }: Run): Promise<void> {
    await this.rest.send('POST', `/v1/runs/${runId}/cancel`);
  }

  async asked(run: Run, count = 1): Promise<readonly Interrupt[]> {
    return await this.rest.interruptOf(run.run_id, count);
  }

  async answer({ interrupt_id: id }: Interrupt, decision: object): Promise<void> {
    const { status, body } = await this.rest.resolve(id, decision);
    if (status !== 200) throw new Error(`an answer was refused: ${JSON.stringify(body)}`);
  }

  /** The same, straight to Temporal. */
  async signal({ run_id: runId }: Run, resolution: object): Promise<void> {
    const connection = await Connection.connect({ address: this.stack.temporalAddress });
    try {
      const temporal = new Client({ connection, namespace: this.stack.namespace });
      await temporal.workflow.getHandle(runId).signal('resolveInterrupt', resolution);
    } finally {
      await connection.close();
    }
  }

  async session({ thread_id: threadId }: Run, engine: Patience = 'usual'): Promise<Record<string, unknown>> {
    const path = `/v1/threads/${threadId}/session?engine=${engine}`;
    return (await this.rest.send<Record<string, unknown>>('GET', path)).body;
  }

  /** The processes on this machine that work for one of the runs, of all or of one. */
  async engineProcesses(of?: Run): Promise<number[]> {
    const runs = of === undefined ? this.#runs : [of.run_id];
    return pidsOf(await readProcesses(), ({ mark }) => runs.some((runId) => mark?.startsWith(`${runId}/`) === true));
  }

  /** Waits until none of them is left. */
  async noEngineLeft(of?: Run): Promise<void> {
    const look = async (): Promise<true | null> => ((await this.engineProcesses(of)).length === 0 ? true : null);
    await this.rest.until('the engine is gone', look, 20_000);
  }
}

/** Of the scenarios that configure it otherwise: an engine for each, which has its name. */
function ownEngines({ trials }: EngineSubject, settings: EngineSettings): Record<string, EngineSettings> {
  const own = Object.entries(trials).flatMap(([name, trial]) => {
    return 'settings' in trial ? [[name, { ...settings, ...trial.settings }] as const] : [];
  });
  return Object.fromEntries(own);
}

import { createCanonicalize } from '../../../activities/canonicalize.ts';
import { translateBuiltinFrame } from '../../../activities/engines/builtin/translate.ts';
import type { GroupCommitter } from '../../../activities/group-committer.ts';
import { endStep, openStep } from '../../../infra/postgres/step.ts';
import { settleRun } from '../../../infra/postgres/turn.ts';
import type { Pool } from '../../../infra/postgres/pool.ts';
import type { StepWriter } from '../../../infra/postgres/lane-append.ts';
import { silent, writerOf } from '../../fixtures/runs.ts';
import type { LogCommand } from './commands.ts';

interface StepModel {
  readonly attempts: StepWriter[];
  ended: boolean;
  /** What the newest attempt said and was told to be stored. */
  words: string[];
}

interface RunActorOptions {
  readonly run: { readonly run_id: string; readonly thread_id: string };
  readonly pool: Pool;
  readonly committers: readonly GroupCommitter[];
  /** Called once, when nothing more is stored and nothing has been corrected yet. */
  readonly onSettled: (actor: RunActor) => Promise<void>;
}

/** One of these is its ground; anything else that a command fails with is a fault of the log. */
const REFUSALS = new Set(['lane_fenced', 'lane_sealed']);

/**
 * Does a run's commands on the real log, and keeps by itself what the log must hold then: the model, which knows of steps and
 * attempts and nothing of frames, revisions or transactions.
 */
export class RunActor {
  readonly runId: string;
  readonly threadId: string;
  refusals = 0;
  settled = false;
  readonly #pool: Pool;
  readonly #committers: readonly GroupCommitter[];
  readonly #onSettled: RunActorOptions['onSettled'];
  readonly #canonicalize: (runId: string) => Promise<boolean>;
  readonly #steps = new Map<number, StepModel>();
  #said = 0;

  constructor({ run, pool, committers, onSettled }: RunActorOptions) {
    this.runId = run.run_id;
    this.threadId = run.thread_id;
    this.#pool = pool;
    this.#committers = committers;
    this.#onSettled = onSettled;
    this.#canonicalize = createCanonicalize({ pool, log: silent } as Parameters<typeof createCanonicalize>[0]);
  }

  /** The words of each step, in order, that a reader of the whole log must hold. */
  get words(): ReadonlyMap<number, readonly string[]> {
    return new Map([...this.#steps].map(([index, { words }]) => [index, words]));
  }

  async act(command: LogCommand): Promise<void> {
    switch (command.do) {
      case 'open':
        return await this.#open(command.step);
      case 'open-twice':
        return await this.#openTwice(command.step);
      case 'say':
        return await this.#say(command.step, command.words);
      case 'say-late':
        return await this.#sayLate(command.step);
      case 'open-while-saying':
        return await this.#openWhileSaying(command.step);
      case 'end':
        return await this.#end(command.step, this.#holder(command.step), true);
      case 'end-late':
        return await this.#end(command.step, this.#steps.get(command.step)?.attempts.at(-2), false);
      case 'settle':
        return await this.#settle();
      case 'settle-while-saying':
        return await this.#settleWhileSaying(command.step);
      case 'canonicalize':
        if (this.settled) await this.#prove();
        return;
    }
  }

  /** Ends the run if it has not ended, and proves it. */
  async finish(): Promise<void> {
    if (!this.settled) await this.#settle();
    await this.#prove();
  }

  /** By three workers at once, for one of whom the claim of another has run out. */
  async #prove(): Promise<void> {
    const takeOver = async (): Promise<void> => {
      await this.#pool.query(
        `update outbox set lease_until = now() - interval '1 second' where run_id = $1 and state = 'translating'`,
        [this.runId],
      );
      await this.#canonicalize(this.runId);
    };
    await Promise.all([this.#canonicalize(this.runId), this.#canonicalize(this.runId), takeOver()]);
  }

  /** The attempt that holds a step now. */
  #holder(index: number): StepWriter | undefined {
    const step = this.#steps.get(index);
    return this.settled || step === undefined || step.ended ? undefined : step.attempts.at(-1);
  }

  async #open(index: number): Promise<void> {
    const opened = await openStep(this.#pool, { runId: this.runId, stepIndex: index, kind: 'model', label: 'm' });
    const step = this.#steps.get(index);
    const expected = step?.ended === true ? 'done' : this.settled ? 'cancelled' : 'opened';
    // a step that was open at the end was closed with it
    const state = this.settled && opened.state === 'done' ? expected : opened.state;
    if (state !== expected) throw new Error(`step ${String(index)} is ${opened.state}, expected ${expected}`);
    if (opened.state !== 'opened') return;
    const attempts = [...(step?.attempts ?? []), opened.writer];
    if (opened.writer.attempt !== attempts.length)
      throw new Error(`attempt ${String(opened.writer.attempt)} skips one`);
    this.#steps.set(index, { attempts, ended: false, words: [] });
  }

  async #openTwice(index: number): Promise<void> {
    if (this.settled || this.#steps.get(index)?.ended === true) return await this.#open(index);
    const open = async () =>
      await openStep(this.#pool, { runId: this.runId, stepIndex: index, kind: 'model', label: 'm' });
    const opened = (await Promise.all([open(), open()])).flatMap((step) =>
      step.state === 'opened' ? step.writer : [],
    );
    const attempts = [...(this.#steps.get(index)?.attempts ?? []), ...opened].toSorted((a, b) => a.attempt - b.attempt);
    if (!attempts.every(({ attempt }, i) => attempt === i + 1)) throw new Error('two have the same attempt');
    this.#steps.set(index, { attempts, ended: false, words: [] });
  }

  async #say(index: number, count: number): Promise<void> {
    const holder = this.#holder(index);
    if (holder === undefined) return await this.#sayLate(index);
    const words = this.#newWords(count);
    if (!(await this.#stored(holder, words))) throw new Error(`the holder of step ${String(index)} was refused`);
    this.#steps.get(index)?.words.push(...words);
  }

  async #sayLate(index: number): Promise<void> {
    const step = this.#steps.get(index);
    const late = this.#holder(index) === undefined ? step?.attempts.at(-1) : step?.attempts.at(-2);
    if (late === undefined) return;
    if (await this.#stored(late, this.#newWords(2)))
      throw new Error(`a late writer of step ${String(index)} was let in`);
  }

  async #openWhileSaying(index: number): Promise<void> {
    const old = this.#holder(index);
    if (old === undefined) return await this.#open(index);
    await Promise.all([this.#stored(old, this.#newWords(3)), this.#open(index)]);
  }

  async #end(index: number, writer: StepWriter | undefined, holds: boolean): Promise<void> {
    if (writer === undefined) return;
    const ended = await allowed(
      endStep(this.#pool, {
        runId: this.runId,
        writer,
        status: 'completed',
        provider: 'builtin',
        translate: translateBuiltinFrame,
        frames: [],
        messages: [],
        result: '{}',
        contentHash: String(this.#said),
      }),
    );
    if (ended !== holds) throw new Error(`step ${String(index)}: its end was ${ended ? 'taken' : 'refused'}`);
    const step = this.#steps.get(index);
    if (step !== undefined && ended) step.ended = true;
  }

  async #settle(meanwhile = async (): Promise<void> => {}): Promise<void> {
    const settlement = { status: 'completed', stopReason: 'stop' } as const;
    const settle = async () => await settleRun(this.#pool, this.runId, settlement);
    await Promise.all([settle(), meanwhile(), settle()]);
    this.settled = true;
    await this.#onSettled(this);
  }

  async #settleWhileSaying(index: number): Promise<void> {
    const writer = this.#holder(index);
    if (writer === undefined) return await this.#settle();
    const words = this.#newWords(3);
    await this.#settle(async () => {
      if (await this.#stored(writer, words)) this.#steps.get(index)?.words.push(...words);
    });
  }

  /** Emits as one append; false when it was refused. */
  async #stored(writer: StepWriter, words: readonly string[]): Promise<boolean> {
    const committer = this.#committers[this.#said % this.#committers.length];
    if (committer === undefined) throw new Error('there is a committer');
    const lane = writerOf(committer, this.runId, writer);
    for (const delta of words) lane.emit({ type: 'text-delta', contentIndex: writer.stepIndex, delta });
    const stored = await allowed(lane.drain());
    if (!stored) this.refusals += 1;
    return stored;
  }

  #newWords(count: number): string[] {
    return Array.from({ length: count }, () => `${this.runId}/${String(this.#said++)} `);
  }
}

async function allowed(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (REFUSALS.has((error as { code?: string }).code ?? '')) return false;
    throw error;
  }
}

import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TidemarkError } from '../../contract/errors.ts';
import { SIGNAL } from '../../contract/messages.ts';
import type { DrivenTurn } from '../../contract/run-plan.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import type { Asking } from '../../infra/postgres/ask.ts';
import { undeliveredAnswers } from '../../infra/postgres/ask.ts';
import { findSession, nameSession } from '../../infra/postgres/harness-session.ts';
import { conversationOf } from '../../infra/postgres/conversation.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import { saidText } from '../../infra/postgres/said-text.ts';
import { noteStepError } from '../../infra/postgres/step.ts';
import { endTurnStep, markPrompted, openGeneration, PARKED, type OpenedTurn } from '../../infra/postgres/turn-step.ts';
import { handedOver } from '../failures.ts';
import type { ActivityLife } from '../activity-life.ts';
import { askPerson } from './ask-person.ts';
import type { Dependencies } from '../dependencies.ts';
import type {
  Driver,
  DriverContext,
  EngineAnswer,
  EngineQuestion,
  NativeSession,
  OpaqueEngine,
  OpenedSession,
  TurnEnd,
  UnnamedSession,
} from '../engines/driver.ts';
import type { LaneWriter } from '../group-committer.ts';
import { keepForFrame } from './keep-for-frame.ts';
import { continuingPrompt, openingPrompt } from './turn-prompt.ts';
import { TurnWatchdog, type LimitReached } from './turn-watchdog.ts';

/** How long an engine that was asked to stop may take before its processes are killed. */
const GRACE_MS = 10_000;
/** Of a message, so much is kept for the conversation that another engine is told. */
const MESSAGE_CHARS = 100_000;

type Opened = Extract<OpenedTurn, { state: 'opened' }>;
type Ended = TurnEnd | { readonly outcome: 'parked' };

/**
 * One attempt at an engine's turn: opens its session, gives it the turn, watches it, and ends the step (design §3.4).
 *
 * **Contract:** when `run` returns or throws the engine is gone. What the engine was told and what it said are stored before the step
 * has its end; a turn that the engine was given is never given again as if it were new.
 */
export class TurnAttempt {
  readonly #deps: Dependencies;
  readonly #run: RunRow;
  readonly #engine: OpaqueEngine;
  readonly #opened: Opened;
  readonly #life: ActivityLife;
  readonly #writer: LaneWriter;
  readonly #watchdog: TurnWatchdog;
  /** The turn is to end, and the engine is asked to. */
  readonly #cancel = new AbortController();
  /** The engine's process is given up, and its session kept: a person takes long, or this worker goes. */
  readonly #leave = new AbortController();
  #limit: LimitReached | null = null;
  #session: (Asking['session'] & { readonly isResumable: boolean }) | null = null;
  /** The engine itself said how the turn ended, so its session holds the turn. */
  #isInOrder = false;

  constructor(deps: Dependencies, turn: { run: RunRow; engine: OpaqueEngine; opened: Opened; life: ActivityLife }) {
    this.#deps = deps;
    this.#run = turn.run;
    this.#engine = turn.engine;
    this.#opened = turn.opened;
    this.#life = turn.life;
    const { provider, translate, limits } = turn.engine;
    const { writer } = turn.opened;
    this.#writer = deps.committer.writer({ runId: turn.run.run_id, provider, writer, translate, isLossNoted: true });
    this.#watchdog = new TurnWatchdog(limits, (limit) => {
      this.#limit = limit;
      this.#cancel.abort(new Error(limit.message));
    });
  }

  async run(): Promise<DrivenTurn> {
    const { signal } = this.#life;
    const onStop = (): void => {
      if (this.#life.stopReason() === 'cancelled') this.#cancel.abort(new Error('the run was cancelled'));
      else this.#leave.abort(new Error('the attempt is given up'));
    };
    const onRefusal = (): void => this.#leave.abort(new Error('another attempt has the turn'));
    signal.addEventListener('abort', onStop, { once: true });
    this.#writer.refused.addEventListener('abort', onRefusal, { once: true });
    if (signal.aborted) onStop();
    try {
      const ended = await this.#drive();
      await this.#writer.drain();
      const stop = this.#life.stopReason();
      if (stop === 'handover' || stop === 'lost') throw handedOver();
      return await this.#end(ended);
    } finally {
      this.#watchdog.stop();
      signal.removeEventListener('abort', onStop);
      this.#writer.refused.removeEventListener('abort', onRefusal);
    }
  }

  async #drive(): Promise<Ended> {
    const workspace = join(this.#deps.config.workspaceRoot, this.#run.thread_id);
    await mkdir(workspace, { recursive: true, mode: 0o700 });
    const driver = this.#engine.createDriver(this.#context(workspace));
    try {
      return await Promise.race([this.#turn(driver), this.#left()]);
    } catch (error) {
      if (this.#cancel.signal.aborted && error instanceof TidemarkError) return { outcome: 'cancelled' };
      if (error instanceof TidemarkError && error.code.startsWith('engine_'))
        return { outcome: 'failed', code: error.code, message: error.message };
      throw error;
    } finally {
      // whoever still waits for a person's answer is released by it
      this.#leave.abort(new Error('the turn is over'));
      await driver.close();
    }
  }

  async #turn(driver: Driver): Promise<Ended> {
    const opened = await Promise.race([driver.open(await this.#known()), this.#overdue()]);
    if (opened === null) return { outcome: 'cancelled' };
    const { earlier } = this.#opened;
    const isContinued = earlier?.prompted === true;
    if (isContinued && !opened.resumed) return LOST;
    await this.#begin(opened, isContinued);
    const fate = isContinued ? await driver.probe?.() : undefined;
    if (fate === 'failed') return { outcome: 'failed', code: 'engine_failed', message: UNWATCHED_FAILURE };
    if (fate === 'completed') {
      this.#isInOrder = true;
      this.#writer.lose('the engine ended the turn while nobody watched it');
      return { outcome: 'completed', stopReason: 'unwatched' };
    }
    const text = await this.#prompt(opened, isContinued);
    await markPrompted(this.#deps.pool, this.#run.run_id, this.#opened.writer);
    crashPoint('turn.prompted');
    const ended = await Promise.race([driver.prompt(text), this.#overdue()]);
    this.#isInOrder = ended !== null;
    return ended ?? { outcome: 'cancelled' };
  }

  /** The session to take up: the one that an attempt before was in, else the head that the run before in the thread left here. */
  async #known(): Promise<NativeSession | null> {
    const { thread_id: threadId, run_id: runId, parent_run_id: parentRunId, engine } = this.#run;
    const row = await findSession(this.#deps.pool, threadId, engine);
    if (row === null || row.provider !== this.#engine.provider || row.runtime_id !== this.#deps.runtimeId) return null;
    const isOwn = row.run_id === runId && this.#opened.earlier?.prompted === true;
    // an older turn as the parent, or another engine in between: the session holds another conversation
    const nativeSessionId = isOwn ? row.native_session_id : row.head_native_session_id;
    const isParents = row.run_id === parentRunId || row.run_id === runId;
    if (nativeSessionId === null || !(isOwn || isParents)) return null;
    return { nativeSessionId, protocolVersion: row.protocol_version };
  }

  async #begin(opened: OpenedSession | UnnamedSession, isContinued: boolean): Promise<void> {
    const { run_id: runId, thread_id: threadId, engine } = this.#run;
    const { nativeSessionId, protocolVersion, capabilities, resumed } = opened;
    const { provider } = this.#engine;
    const generation = await openGeneration(this.#deps.pool, {
      writer: this.#opened.writer,
      binding: {
        threadId,
        engine,
        provider,
        nativeSessionId,
        runtime: { kind: 'sandbox', id: this.#deps.runtimeId },
        protocolVersion,
        capabilities,
        runId,
      },
      source: provider,
      resumed,
      reconciling: isContinued ? RECONCILING[this.#opened.earlier?.kind ?? 'lost'] : null,
    });
    const isResumable = capabilities.resume || capabilities.load;
    this.#session = { threadId, engine, generation, isResumable };
  }

  async #prompt({ resumed }: OpenedSession | UnnamedSession, isContinued: boolean): Promise<string> {
    const { pool } = this.#deps;
    const { run_id: runId, parent_run_id: parentRunId } = this.#run;
    if (isContinued) return continuingPrompt(await undeliveredAnswers(pool, runId));
    const input = JSON.parse(this.#run.input) as string;
    return openingPrompt(input, resumed || parentRunId === null ? [] : await conversationOf(pool, parentRunId));
  }

  #context(workspace: string): DriverContext {
    const { log } = this.#deps;
    const { run_id: runId, thread_id: threadId, model } = this.#run;
    return {
      runId,
      threadId,
      workspace,
      model: model === 'default' ? null : model,
      log: log.child({ runId, engine: this.#engine.name }),
      signal: this.#cancel.signal,
      emit: async (frame) => {
        this.#watchdog.heard();
        this.#writer.emit(frame);
        // a refusal ends the attempt by its own way
        if (this.#writer.isCrowded) await this.#writer.drain().catch(() => undefined);
      },
      ask: (question, withdrawn) => this.#ask(question, withdrawn ?? null),
      keep: (kept) => keepForFrame(this.#deps, this.#run, kept),
      named: async (nativeSessionId) => {
        if (this.#session !== null) await nameSession(this.#deps.pool, this.#session, nativeSessionId);
      },
      expect: (who) => this.#watchdog.expect(who),
    };
  }

  async #ask(question: EngineQuestion, withdrawn: AbortSignal | null): Promise<EngineAnswer> {
    const session = this.#session;
    if (session === null) return { status: 'cancelled' };
    const release = this.#watchdog.hold();
    let hot: NodeJS.Timeout | undefined;
    try {
      await this.#writer.drain();
      const answer = await askPerson(this.#deps, {
        asking: { runId: this.#run.run_id, writer: this.#opened.writer, session },
        question,
        signal: AbortSignal.any([this.#cancel.signal, this.#leave.signal]),
        withdrawn,
        onOpen: () => {
          void this.#tellWorkflow();
          if (!session.isResumable) return;
          hot = setTimeout(() => this.#leave.abort(PARK), this.#engine.limits.hotMs);
        },
      });
      // an engine that is given up keeps its question: told that it is cancelled it would note a refusal in its session
      if (this.#leave.signal.aborted && answer.status === 'cancelled') return await never();
      return answer;
    } finally {
      clearTimeout(hot);
      release();
    }
  }

  /** A hint alone: the workflow shows what the run waits for, and reads the rows for it. */
  async #tellWorkflow(): Promise<void> {
    try {
      await this.#deps.temporal.workflow.getHandle(this.#run.run_id).signal(SIGNAL.wake);
    } catch (error) {
      this.#deps.log.debug({ err: error, runId: this.#run.run_id }, 'workflow not told of a question');
    }
  }

  /** Resolves when the engine has had its grace to stop. */
  async #overdue(): Promise<null> {
    await aborted(this.#cancel.signal);
    await sleep(GRACE_MS, undefined, { ref: false });
    return null;
  }

  async #left(): Promise<Ended> {
    await aborted(this.#leave.signal);
    return { outcome: this.#leave.signal.reason === PARK ? 'parked' : 'cancelled' };
  }

  async #end(ended: Ended): Promise<DrivenTurn> {
    const { pool, log } = this.#deps;
    const { run_id: runId } = this.#run;
    const { writer } = this.#opened;
    const limited: Ended =
      this.#limit === null || ended.outcome === 'parked' ? ended : { outcome: 'failed', ...this.#limit };
    const driven = drivenOf(limited);
    if (limited.outcome === 'failed') {
      log.warn({ runId, engine: this.#engine.name, code: limited.code }, 'turn failed');
      const { code, message } = limited;
      await noteStepError(pool, { runId, ...writer, error: { code, message } });
    }
    const text = limited.outcome === 'parked' ? '' : await saidText(pool, runId, MESSAGE_CHARS);
    await endTurnStep(pool, {
      runId,
      writer,
      status: limited.outcome === 'parked' ? 'completed' : limited.outcome,
      session: this.#session,
      // a parked session was committed with its question
      head: ended.outcome === 'parked' ? 'as it is' : this.#isInOrder ? 'commit' : 'uncertain',
      messages:
        text === ''
          ? []
          : [{ role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', timestamp: Date.now() }],
      result: limited.outcome === 'parked' ? PARKED : JSON.stringify(driven),
      contentHash: hash('sha256', text),
      losses: this.#writer.losses(),
    });
    crashPoint('turn-step.committed');
    return driven;
  }
}

const PARK = new Error('a person takes longer than the engine is held');
const LOST: TurnEnd = {
  outcome: 'failed',
  code: 'engine_lost',
  message:
    'the engine was lost in the middle of its turn and its session could not be taken up again; what its tools did until then stays done',
};
const UNWATCHED_FAILURE = 'the engine failed the turn while nobody watched it';
const RECONCILING = {
  lost: 'the worker that drove it was lost in the middle of the turn; the engine is told to look before it repeats a tool call',
  parked: 'it was stopped while a person had not answered',
} as const;

function drivenOf(ended: Ended): DrivenTurn {
  if (ended.outcome === 'failed') return { outcome: 'failed', code: ended.code };
  return ended;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** What an engine that is given up waits for; it ends with the engine's process. */
async function never(): Promise<never> {
  return await new Promise<never>(() => undefined);
}

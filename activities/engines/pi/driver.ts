import { TidemarkError } from '../../../contract/errors.ts';
import { AwaitedParty } from '../awaited-party.ts';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd, TurnFate } from '../driver.ts';
import { closedByUs, goneFault } from '../process/engine-fault.ts';
import type { EngineExit, EngineProcess } from '../process/engine-process.ts';
import { dialogOf, DISMISSED, type DialogValue } from './dialogs.ts';
import { DIALOGS } from './extension-ui.ts';
import type { Ready } from './extension/protocol.ts';
import { faultText } from './fault-text.ts';
import { PiFrameRecorder } from './frame-recorder.ts';
import { KeptResults } from './kept-results.ts';
import { capabilitiesOf } from './negotiated.ts';
import { PiConnection } from './pi-connection.ts';
import type { PiMessage } from './pi-frames.ts';
import { SessionState, UiRequest } from './pi-schema.ts';
import { askForSession, readyIn, sessionToTakeUp, ungated } from './session-opening.ts';
import { TurnWatch } from './turn-watch.ts';

export interface PiDriverParts {
  readonly name: string;
  /** The workspace by each of its names. */
  readonly roots: readonly string[];
  /** `sessionId`: of the session to take up; null: a new one. */
  start(sessionId: string | null): EngineProcess;
}

interface Running {
  readonly process: EngineProcess;
  readonly connection: PiConnection;
}

/**
 * `pi --mode rpc` as a child process, with Tidemark's extension in it. `Driver` has the contract.
 *
 * A pi that has not loaded the extension is not driven. What an extension asks is answered while the turn goes on; when the call that
 * it asks for is over, nobody listens to the answer any more.
 */
export class PiDriver implements Driver {
  readonly #context: DriverContext;
  readonly #parts: PiDriverParts;
  readonly #awaited: AwaitedParty;
  readonly #tools = new Set<string>();
  /** What pi waits for a person to say, and the call that each is about. */
  readonly #asking = new Map<AbortController, string | null>();
  readonly #settled = Promise.withResolvers<TurnEnd>();
  readonly #watch = new TurnWatch();
  #running: Running | null = null;
  #ready: Ready | null = null;
  #hasBegun = false;
  #closing: Promise<void> | null = null;

  constructor(context: DriverContext, parts: PiDriverParts) {
    this.#context = context;
    this.#parts = parts;
    this.#awaited = new AwaitedParty((party) => context.expect(party));
  }

  async open(known: NativeSession | null): Promise<OpenedSession> {
    const wanted = sessionToTakeUp(known);
    try {
      return await this.#openWith(wanted);
    } catch (fault) {
      if (wanted === null || !isUnavailable(fault)) throw fault;
      // a session that pi cannot read, or a pi that cannot look for one: a new one can still be begun
      await this.#running?.process.kill();
      return await this.#openWith(null);
    }
  }

  async #openWith(wanted: string | null): Promise<OpenedSession> {
    const { name } = this.#parts;
    if (this.#closing !== null) throw closedByUs(name);
    const { connection } = (this.#running = this.#start(wanted));
    const session = await askForSession(connection, { name, wanted });
    // it is said before pi answers anything
    if (this.#ready === null) throw ungated(name);
    await connection.command('get_commands');
    this.#hasBegun = true;
    return { ...session, capabilities: capabilitiesOf(this.#ready.tools) };
  }

  async prompt(message: string): Promise<TurnEnd> {
    const { connection } = this.#opened();
    const { signal } = this.#context;
    if (signal.aborted) return { outcome: 'cancelled' };
    const answer = await connection.command('prompt', { message });
    if (!answer.success) return { outcome: 'failed', code: 'engine_failed', message: faultText(answer.error) };
    // a command of an extension, which need not ask the model
    const { disposition } = (answer.data ?? {}) as { disposition?: unknown };
    if (disposition === 'handled' && !(await isStreaming(connection))) return this.#watch.end;
    const abort = (): void => void stop(connection).catch(() => undefined);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      return await Promise.race([this.#settled.promise, connection.ended.then(thrown)]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  probe(): Promise<TurnFate> {
    return Promise.resolve(this.#ready?.fate ?? 'unknown');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #opened(): Running {
    if (this.#running === null || !this.#hasBegun) throw new Error('the engine was not opened');
    return this.#running;
  }

  #start(sessionId: string | null): Running {
    const { roots } = this.#parts;
    const context = this.#context;
    const results = new KeptResults({ keep: (kept) => context.keep(kept), roots });
    const recorder = new PiFrameRecorder({
      emit: (frame) => context.emit(frame),
      keptOf: (message) => results.keptOf(message),
    });
    const process = this.#parts.start(sessionId);
    const connection = new PiConnection({
      stdin: process.stdin,
      stdout: process.stdout,
      gone: process.exited.then((exit) => this.#gone(exit)),
      record: (dir, message) => recorder.record(dir, message),
      recordMalformed: (text) => recorder.recordMalformed(text),
      hear: (message) => this.#hear(message),
    });
    return { process, connection };
  }

  #gone(exit: EngineExit): TidemarkError {
    const life = { hasBegun: this.#hasBegun, isClosing: this.#closing !== null, log: this.#context.log };
    return goneFault({ name: this.#parts.name, exit }, life);
  }

  #hear(message: PiMessage): void {
    this.#ready ??= readyIn(message);
    this.#noteTool(message);
    if (message.type === 'extension_ui_request') void this.#answer(message);
    const settling = this.#watch.take(message);
    if (settling === 'settled') this.#settle();
    else if (settling === 'unless-more-follows') void this.#settleUnlessMoreFollows();
  }

  #noteTool({ type, toolCallId }: PiMessage): void {
    if (typeof toolCallId !== 'string') return;
    if (type === 'tool_execution_start') this.#tools.add(toolCallId);
    if (type === 'tool_execution_end') {
      this.#tools.delete(toolCallId);
      for (const [withdrawn, about] of this.#asking) if (about === toolCallId) withdrawn.abort();
    }
    this.#awaited.update({ isOneOpen: this.#tools.size > 0 });
  }

  #settle(): void {
    for (const withdrawn of this.#asking.keys()) withdrawn.abort();
    this.#settled.resolve(this.#watch.end);
  }

  async #settleUnlessMoreFollows(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    // by then it would have said that it goes on
    const answer = await running.connection.command('get_state').catch(() => null);
    if (answer !== null && this.#watch.isStillOver) this.#settle();
  }

  async #answer(message: PiMessage): Promise<void> {
    const request = UiRequest.safeParse(message).data;
    if (request === undefined || !DIALOGS.has(request.method)) return;
    try {
      const value = await this.#valueOf(request);
      await this.#running?.connection.tell({ type: 'extension_ui_response', id: request.id, ...value });
    } catch (error) {
      this.#running?.connection.end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #valueOf(request: UiRequest): Promise<DialogValue> {
    const dialog = dialogOf(request);
    if (dialog === null) return DISMISSED;
    const withdrawn = new AbortController();
    // pi itself takes it as dismissed then
    const late = request.timeout == null ? [] : [AbortSignal.timeout(request.timeout)];
    this.#asking.set(withdrawn, dialog.question.toolCallId);
    try {
      const answer = await this.#context.ask(dialog.question, AbortSignal.any([withdrawn.signal, ...late]));
      return dialog.valueOf(answer);
    } finally {
      this.#asking.delete(withdrawn);
    }
  }

  async #close(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    running.connection.end(closedByUs(this.#parts.name));
    await running.process.kill();
  }
}

/** What waits in pi's queues would be taken up when the turn is stopped. An older pi gives that command no answer. */
async function stop(connection: PiConnection): Promise<void> {
  await Promise.all([connection.command('clear_queue'), connection.command('abort')]);
}

async function isStreaming(connection: PiConnection): Promise<boolean> {
  const answer = await connection.command('get_state');
  return answer.success && SessionState.safeParse(answer.data).data?.isStreaming === true;
}

function isUnavailable(fault: unknown): boolean {
  return fault instanceof TidemarkError && fault.code === 'engine_unavailable';
}

function thrown(fault: Error): never {
  throw fault;
}

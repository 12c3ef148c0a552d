import { JsonRpcConnection, type EngineRequest } from '../wire/json-rpc-connection.ts';
import type { TidemarkError } from '../../../contract/errors.ts';
import { AwaitedParty } from '../awaited-party.ts';
import { closedByUs, goneFault } from '../process/engine-fault.ts';
import { RequestFault, unknownMethod, INVALID_PARAMS } from '../wire/request-fault.ts';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd, TurnFate } from '../driver.ts';
import type { EngineExit, EngineProcess } from '../process/engine-process.ts';
import type { ModeKind, TurnInterruptParams, TurnStartParams } from './app-server-types.ts';
import { approvalOf } from './approval.ts';
import { ResolvedRequest, TurnMessage, type OpenedThread } from './codex-schema.ts';
import { modeChange } from './collaboration-mode.ts';
import { CodexFrameRecorder } from './frame-recorder.ts';
import { keptOf } from './kept-items.ts';
import { CODEX_CAPABILITIES, CODEX_PROTOCOL_VERSION } from './negotiated.ts';
import { OpenItems } from './open-items.ts';
import { fateOfRun } from './run-fate.ts';
import { openThread, refusalOf, unreadable, type ThreadSettings } from './thread-opening.ts';
import { turnEndOf } from './turn-end.ts';
import { questionOf } from './user-input.ts';

export interface CodexDriverParts {
  readonly name: string;
  readonly settings: ThreadSettings;
  /** Whether it plans and asks, or acts and asks only for approvals. */
  readonly mode: ModeKind;
  /** The workspace by each of its names. */
  readonly roots: readonly string[];
  /** Makes the ids of the engine's requests unique among those of its other processes. */
  readonly launchId: string;
  start(): EngineProcess;
}

interface Running {
  readonly process: EngineProcess;
  readonly connection: JsonRpcConnection;
}

const APPROVAL_OR_QUESTION = /\/(requestApproval|requestUserInput|request)$/;

/**
 * `codex app-server` as a child process. `Driver` has the contract.
 *
 * Sub-agents run as threads of their own on the same connection: only the end of this turn of this thread ends the prompt. What the
 * engine asks of a person is answered while its turn goes on; any other request of it is refused. The run's id goes with its
 * prompt, so that after a crash `probe` tells this run's turn from those before it.
 */
export class CodexDriver implements Driver {
  readonly #context: DriverContext;
  readonly #parts: CodexDriverParts;
  readonly #items = new OpenItems();
  readonly #awaited: AwaitedParty;
  readonly #ended = new Map<string, TurnEnd>();
  /** What the engine waits for a person to say, by the request's id. */
  readonly #asking = new Map<string | number, AbortController>();
  #waiting: { readonly turnId: string; resolve(end: TurnEnd): void } | null = null;
  #running: Running | null = null;
  #thread: OpenedThread | null = null;
  #closing: Promise<void> | null = null;

  constructor(context: DriverContext, parts: CodexDriverParts) {
    this.#context = context;
    this.#awaited = new AwaitedParty((party) => context.expect(party));
    this.#parts = parts;
  }

  async open(known: NativeSession | null): Promise<OpenedSession> {
    const { name, settings } = this.#parts;
    if (this.#closing !== null) throw closedByUs(name);
    const { connection } = (this.#running = this.#start());
    const { thread, resumed } = await openThread(connection, { name, known, settings });
    this.#thread = thread;
    return {
      nativeSessionId: thread.thread.id,
      protocolVersion: CODEX_PROTOCOL_VERSION,
      capabilities: CODEX_CAPABILITIES,
      resumed,
    };
  }

  async prompt(text: string): Promise<TurnEnd> {
    const { connection, thread, threadId } = this.#opened();
    const { signal, runId } = this.#context;
    if (signal.aborted) return { outcome: 'cancelled' };
    const told: TurnStartParams = {
      threadId,
      input: [{ type: 'text', text, text_elements: [] }],
      clientUserMessageId: runId,
      ...modeChange(thread, this.#parts.mode),
    };
    const answer = await connection.request('turn/start', told);
    if (answer.error !== undefined) return { outcome: 'failed', code: 'engine_failed', message: refusalOf(answer) };
    const turnId = TurnMessage.shape.turn.safeParse((answer.result as { turn?: unknown } | null)?.turn).data?.id;
    if (turnId === undefined) throw unreadable(this.#parts.name, 'a turn without an id');
    // it refuses when the turn has just ended by itself: then that end stands
    const which: TurnInterruptParams = { threadId, turnId };
    const interrupt = () => void connection.request('turn/interrupt', which).catch(() => undefined);
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    try {
      return await this.#endOf(turnId);
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  async probe(): Promise<TurnFate> {
    const { connection, threadId } = this.#opened();
    return await fateOfRun(connection, { threadId, runId: this.#context.runId });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #opened(): { connection: JsonRpcConnection; thread: OpenedThread; threadId: string } {
    const thread = this.#thread;
    if (this.#running === null || thread === null) throw new Error('the engine was not opened');
    return { connection: this.#running.connection, thread, threadId: thread.thread.id };
  }

  #start(): Running {
    const { roots } = this.#parts;
    const context = this.#context;
    const recorder = new CodexFrameRecorder({
      emit: (frame) => context.emit(frame),
      keptOf: (message) => keptOf(message, { keep: (kept) => context.keep(kept), roots }),
    });
    const process = this.#parts.start();
    const gone = process.exited.then((exit) => this.#gone(exit));
    const connection = new JsonRpcConnection({
      envelope: {},
      withdrawal: null,
      stdin: process.stdin,
      stdout: process.stdout,
      gone,
      record: (dir, message) => recorder.record(dir, message),
      recordMalformed: (text) => recorder.recordMalformed(text),
      serve: (request) => this.#serve(request),
      hear: ({ type }, params) => this.#hear(type, params),
    });
    return { process, connection };
  }

  #gone(exit: EngineExit): TidemarkError {
    const life = { hasBegun: this.#thread !== null, isClosing: this.#closing !== null, log: this.#context.log };
    return goneFault({ name: this.#parts.name, exit }, life);
  }

  #hear(method: string, params: unknown): void {
    this.#items.take(method, params);
    this.#awaited.update(this.#items);
    if (method === 'serverRequest/resolved') this.#withdraw(params);
    if (method !== 'turn/completed') return;
    const ended = TurnMessage.safeParse(params).data;
    if (ended === undefined || ended.threadId !== this.#thread?.thread.id) return;
    const end = turnEndOf(ended.turn);
    if (this.#waiting?.turnId === ended.turn.id) this.#waiting.resolve(end);
    else this.#ended.set(ended.turn.id, end);
  }

  async #serve({ id, method, params }: EngineRequest): Promise<unknown> {
    if (!APPROVAL_OR_QUESTION.test(method)) throw unknownMethod(method);
    const request = { nativeId: `${this.#parts.launchId}:${String(id)}`, method, params };
    const asked = approvalOf(request, (itemId) => this.#items.itemOf(itemId)) ?? questionOf(request);
    if (asked === null) throw new RequestFault(INVALID_PARAMS, `this client cannot read the request ${method}`);
    const withdrawn = new AbortController();
    this.#asking.set(id, withdrawn);
    try {
      return asked.resultOf(await this.#context.ask(asked.question, withdrawn.signal));
    } finally {
      this.#asking.delete(id);
    }
  }

  /** A request that is resolved while nobody has answered it was taken back: to the late answer the engine does not listen. */
  #withdraw(params: unknown): void {
    const requestId = ResolvedRequest.safeParse(params).data?.requestId;
    if (requestId !== undefined) this.#asking.get(requestId)?.abort();
  }

  async #endOf(turnId: string): Promise<TurnEnd> {
    const early = this.#ended.get(turnId);
    if (early !== undefined) return early;
    const { connection } = this.#opened();
    return await new Promise<TurnEnd>((resolve, reject) => {
      this.#waiting = { turnId, resolve };
      void connection.ended.then(reject);
    });
  }

  async #close(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    running.connection.end(closedByUs(this.#parts.name));
    await running.process.kill();
  }
}

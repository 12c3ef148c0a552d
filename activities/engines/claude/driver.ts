import { randomUUID } from 'node:crypto';
import { TidemarkError } from '../../../contract/errors.ts';
import { AwaitedParty } from '../awaited-party.ts';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd } from '../driver.ts';
import { closedByUs, goneFault } from '../process/engine-fault.ts';
import type { EngineExit, EngineProcess } from '../process/engine-process.ts';
import { INVALID_PARAMS, RequestFault, unknownMethod } from '../wire/request-fault.ts';
import { permissionOf, PermissionRequest } from './approval.ts';
import type { ClaudeMessage } from './claude-frames.ts';
import { ResultMessage } from './claude-schema.ts';
import { ControlConnection, type ControlRequest } from './control-connection.ts';
import { faultText } from './fault-text.ts';
import { ClaudeFrameRecorder } from './frame-recorder.ts';
import { keptOf } from './kept-results.ts';
import { CLAUDE_CAPABILITIES, CLAUDE_PROTOCOL_VERSION } from './negotiated.ts';
import { OpenTools } from './open-tools.ts';
import type { WhichSession } from './program-arguments.ts';
import { elicitationOf, questionOf, type AskedQuestion } from './questions.ts';
import { reasonOf, TurnSettling } from './turn-settling.ts';

export interface ClaudeDriverParts {
  readonly name: string;
  /** The workspace by each of its names. */
  readonly roots: readonly string[];
  /** Makes the ids of the engine's requests unique among those of its other processes. */
  readonly launchId: string;
  start(session: WhichSession): EngineProcess;
}

interface Running {
  readonly process: EngineProcess;
  readonly connection: ControlConnection;
}

/**
 * Claude Code as a child process. `Driver` has the contract.
 *
 * A process is for one session, which it is started with: one that is begun has an id of ours. What the program asks of a person is
 * answered while its turn goes on; any other request of it is refused.
 */
export class ClaudeDriver implements Driver {
  readonly #context: DriverContext;
  readonly #parts: ClaudeDriverParts;
  readonly #tools = new OpenTools();
  readonly #settling = new TurnSettling();
  readonly #awaited: AwaitedParty;
  readonly #turnEnd = Promise.withResolvers<TurnEnd>();
  /** A process that does not take its session up says so in a result, before it has answered anything. */
  #refused = Promise.withResolvers<string>();
  #running: Running | null = null;
  #hasBegun = false;
  #closing: Promise<void> | null = null;

  constructor(context: DriverContext, parts: ClaudeDriverParts) {
    this.#context = context;
    this.#awaited = new AwaitedParty((party) => context.expect(party));
    this.#parts = parts;
  }

  async open(known: NativeSession | null): Promise<OpenedSession> {
    const session = { protocolVersion: CLAUDE_PROTOCOL_VERSION, capabilities: CLAUDE_CAPABILITIES };
    if (known?.protocolVersion === CLAUDE_PROTOCOL_VERSION) {
      const { nativeSessionId } = known;
      if (await this.#takesUp(nativeSessionId)) return { ...session, nativeSessionId, resumed: true };
    }
    const nativeSessionId = randomUUID();
    await this.#greet({ begin: nativeSessionId });
    return { ...session, nativeSessionId, resumed: false };
  }

  async prompt(text: string): Promise<TurnEnd> {
    const running = this.#running;
    if (running === null) throw new Error('the engine was not opened');
    const { connection } = running;
    const { signal } = this.#context;
    if (signal.aborted) return { outcome: 'cancelled' };
    const interrupt = () => void connection.request({ subtype: 'interrupt' }).catch(() => undefined);
    await connection.send({
      type: 'user',
      message: { role: 'user', content: text },
      parent_tool_use_id: null,
      session_id: '',
    });
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    try {
      const lost = connection.ended.then((fault) => Promise.reject(fault));
      return await Promise.race([this.#turnEnd.promise, lost]);
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  /** Whether a process has taken the session up; one that has not is gone. */
  async #takesUp(nativeSessionId: string): Promise<boolean> {
    try {
      await this.#greet({ resume: nativeSessionId });
      return true;
    } catch (error) {
      if (!(error instanceof TidemarkError) || error.code !== 'engine_unavailable') throw error;
      this.#context.log.info({ nativeSessionId, reason: error.message }, 'session not taken up: another is begun');
      await this.#leave();
      return false;
    }
  }

  async #greet(session: WhichSession): Promise<void> {
    const { name } = this.#parts;
    if (this.#closing !== null) throw closedByUs(name);
    this.#refused = Promise.withResolvers<string>();
    const { connection } = (this.#running = this.#start(session));
    const refused = this.#refused.promise.then((reason) => Promise.reject(unavailable(name, reason)));
    const answer = await Promise.race([connection.request({ subtype: 'initialize' }), refused]);
    if (answer.error !== null) throw unavailable(name, faultText(answer.error));
    this.#hasBegun = true;
  }

  #start(session: WhichSession): Running {
    const { roots, launchId } = this.#parts;
    const context = this.#context;
    const recorder = new ClaudeFrameRecorder({
      emit: (frame) => context.emit(frame),
      keptOf: (message) => keptOf(message, { keep: (kept) => context.keep(kept), roots }),
    });
    const process = this.#parts.start(session);
    const connection = new ControlConnection({
      prefix: launchId,
      stdin: process.stdin,
      stdout: process.stdout,
      gone: process.exited.then((exit) => this.#gone(exit)),
      record: (dir, message) => recorder.record(dir, message),
      recordMalformed: (text) => recorder.recordMalformed(text),
      serve: (request) => this.#serve(request),
      hear: (message) => this.#hear(message),
    });
    return { process, connection };
  }

  #gone(exit: EngineExit): TidemarkError {
    const life = { hasBegun: this.#hasBegun, isClosing: this.#closing !== null, log: this.#context.log };
    return goneFault({ name: this.#parts.name, exit }, life);
  }

  #hear(message: ClaudeMessage): void {
    if (!this.#hasBegun) {
      const result = message['type'] === 'result' ? ResultMessage.safeParse(message).data : undefined;
      if (result !== undefined) this.#refused.resolve(reasonOf(result));
      return;
    }
    this.#tools.take(message);
    this.#awaited.update(this.#tools);
    const { isOneSentOff } = this.#tools;
    const end = this.#settling.take(message, { isStopping: this.#context.signal.aborted, isOneSentOff });
    if (end !== null) this.#turnEnd.resolve(end);
  }

  async #serve({ id, request, signal }: ControlRequest): Promise<object> {
    const subtype = String(request['subtype']);
    const asked = this.#questionIn(`${this.#parts.launchId}:${id}`, subtype, request);
    if (asked === null) throw new RequestFault(INVALID_PARAMS, `this client cannot read the request ${subtype}`);
    return asked.resultOf(await this.#context.ask(asked.question, signal));
  }

  #questionIn(nativeId: string, subtype: string, request: ControlRequest['request']): AskedQuestion | null {
    if (subtype === 'elicitation') return elicitationOf(nativeId, request);
    if (subtype !== 'can_use_tool') throw unknownMethod(subtype);
    const permission = PermissionRequest.safeParse(request).data;
    if (permission === undefined) return null;
    const known = this.#tools.inputOf(permission.tool_use_id);
    return questionOf(nativeId, permission) ?? permissionOf(nativeId, permission, known);
  }

  async #leave(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    running.connection.end(closedByUs(this.#parts.name));
    await running.process.kill();
  }
}

function unavailable(name: string, reason: string): TidemarkError {
  return new TidemarkError(
    'engine_unavailable',
    `${name} begins no session: ${reason}`,
    "Run its program by hand on the worker's machine and sign in; the worker's log has what it printed.",
  );
}

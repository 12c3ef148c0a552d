import { AGENT_METHODS, PROTOCOL_METHODS } from '@agentclientprotocol/sdk';
import { setTimeout as delay } from 'node:timers/promises';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd } from '../driver.ts';
import type { EngineExit, EngineProcess } from '../process/engine-process.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { ClientSide } from './client-side.ts';
import type { ClientFiles } from '../files/client-files.ts';
import type { ClientTerminals } from './client-terminals.ts';
import { JsonRpcConnection } from '../wire/json-rpc-connection.ts';
import type { TidemarkError } from '../../../contract/errors.ts';
import { AwaitedParty } from '../awaited-party.ts';
import { closedByUs, goneFault } from '../process/engine-fault.ts';
import { FrameRecorder } from './frame-recorder.ts';
import type { KeptContent } from './kept-content.ts';
import { negotiated } from './negotiated.ts';
import { OpenTools, toolPatchOf } from './open-tools.ts';
import { beginSession } from './session-opening.ts';
import { applySettings, type WantedSettings } from './session-settings.ts';
import { codexErrorOf, turnEndOf, type CodexError } from './turn-end.ts';

/** So long an agent may take to put its session away. */
const SESSION_CLOSES_WITHIN_MS = 2_000;

export interface AcpDriverParts {
  readonly name: string;
  readonly wanted: WantedSettings;
  readonly files: ClientFiles;
  /** Whether the agent is offered them. */
  readonly offersFiles: boolean;
  readonly terminals: ClientTerminals;
  readonly kept: KeptContent;
  /** Makes the ids of an agent's requests unique among those of its other processes. */
  readonly launchId: string;
  start(): EngineProcess;
}

interface Running {
  readonly process: EngineProcess;
  readonly connection: JsonRpcConnection;
}

/**
 * Any agent of the Agent Client Protocol 1, as a child process. `Driver` has the contract.
 *
 * What the agent asks for is answered while its turn goes on: permissions and forms by a person, files and terminals from the
 * workspace. After an abort the agent is told to cancel, and what it waits for is answered as cancelled.
 */
export class AcpDriver implements Driver {
  readonly #context: DriverContext;
  readonly #parts: AcpDriverParts;
  readonly #tools = new OpenTools();
  readonly #awaited: AwaitedParty;
  #running: Running | null = null;
  #session: OpenedSession | null = null;
  #closing: Promise<void> | null = null;
  #isPrompting = false;
  /** What codex-acp said of its model, which failed, before it ended the turn as if it had not. */
  #modelFault: CodexError | null = null;

  constructor(context: DriverContext, parts: AcpDriverParts) {
    this.#context = context;
    this.#awaited = new AwaitedParty((party) => context.expect(party));
    this.#parts = parts;
  }

  async open(known: NativeSession | null): Promise<OpenedSession> {
    const { name, wanted, offersFiles: usesFiles } = this.#parts;
    if (this.#closing !== null) throw closedByUs(name);
    const { connection } = (this.#running = this.#start());
    const { workspace } = this.#context;
    const begun = await beginSession(connection, { name, workspace, known, usesFiles });
    const { initialized, session, nativeSessionId, resumed } = begun;
    await applySettings(connection, { name, sessionId: nativeSessionId, session }, wanted);
    this.#session = {
      nativeSessionId,
      protocolVersion: String(initialized.protocolVersion),
      capabilities: negotiated(initialized, session),
      resumed,
    };
    return this.#session;
  }

  async prompt(text: string): Promise<TurnEnd> {
    const { signal } = this.#context;
    if (this.#running === null || this.#session === null) throw new Error('prompt before open');
    const { connection } = this.#running;
    const sessionId = this.#session.nativeSessionId;
    if (signal.aborted) return { outcome: 'cancelled' };
    const cancel = () => void connection.notify(AGENT_METHODS.session_cancel, { sessionId }).catch(() => undefined);
    signal.addEventListener('abort', cancel, { once: true });
    this.#isPrompting = true;
    try {
      const prompt = [{ type: 'text', text }];
      const { frame } = await connection.request(AGENT_METHODS.session_prompt, { sessionId, prompt });
      return this.#endOf(frame);
    } finally {
      this.#isPrompting = false;
      signal.removeEventListener('abort', cancel);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #start(): Running {
    const { files, terminals, kept, launchId } = this.#parts;
    const context = this.#context;
    const recorder = new FrameRecorder({
      emit: (frame) => context.emit(frame),
      keptOf: (dir, message) => kept.keptOf(dir, message),
    });
    const client = new ClientSide({
      files,
      terminals,
      tools: this.#tools,
      ask: (question, withdrawn) => context.ask(question, withdrawn),
      signal: context.signal,
      launchId,
      onToolsChanged: () => this.#awaited.update(this.#tools),
    });
    const process = this.#parts.start();
    const { stdin, stdout } = process;
    const connection = new JsonRpcConnection({
      envelope: { jsonrpc: '2.0' },
      withdrawal: PROTOCOL_METHODS.cancel_request,
      stdin,
      stdout,
      gone: process.exited.then((exit) => this.#gone(exit)),
      record: (dir, message) => recorder.record(dir, message),
      recordMalformed: (text) => recorder.recordMalformed(text),
      serve: (request) => client.serve(request),
      hear: (frame, params) => this.#hear(frame, params),
    });
    return { process, connection };
  }

  #gone(exit: EngineExit): TidemarkError {
    const life = { hasBegun: this.#session !== null, isClosing: this.#closing !== null, log: this.#context.log };
    return goneFault({ name: this.#parts.name, exit }, life);
  }

  #hear(frame: WireFrame, params: unknown): void {
    // the updates before a prompt are of turns that are over
    if (!this.#isPrompting) return;
    this.#modelFault = codexErrorOf(frame, this.#modelFault);
    const patch = toolPatchOf(params);
    if (patch === null) return;
    this.#tools.take(patch);
    this.#awaited.update(this.#tools);
  }

  #endOf(frame: WireFrame): TurnEnd {
    const end = turnEndOf(frame);
    if (end === null) throw new Error(`${frame.type} is no answer to a prompt`);
    // some agents answer a cancelled prompt with an error
    if (end.outcome === 'failed' && this.#context.signal.aborted) return { outcome: 'cancelled' };
    const fault = this.#modelFault;
    if (end.outcome !== 'completed' || fault === null || fault.willRetry) return end;
    return { outcome: 'failed', code: 'engine_failed', message: fault.message };
  }

  async #close(): Promise<void> {
    const { name, terminals } = this.#parts;
    const closingTerminals = terminals.close();
    const running = this.#running;
    if (running !== null) {
      await this.#closeSession(running.connection);
      running.connection.end(closedByUs(name));
      await running.process.kill();
    }
    await closingTerminals;
  }

  /** Only between turns: an agent in the middle of one is ended. */
  async #closeSession(connection: JsonRpcConnection): Promise<void> {
    const session = this.#session;
    if (session === null || this.#isPrompting || !session.capabilities.close) return;
    const closed = connection
      .request(AGENT_METHODS.session_close, { sessionId: session.nativeSessionId })
      .then(() => undefined)
      // it has ended: there is no session to put away
      .catch(() => undefined);
    await Promise.race([closed, delay(SESSION_CLOSES_WITHIN_MS, undefined, { ref: false })]);
  }
}

import type { TidemarkError } from '../../../contract/errors.ts';
import type { ClientFiles } from '../files/client-files.ts';
import { AwaitedParty } from '../awaited-party.ts';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd, TurnFate } from '../driver.ts';
import { closedByUs, goneFault } from '../process/engine-fault.ts';
import type { EngineProcess } from '../process/engine-process.ts';
import type { ServerAnswer, ServerCall } from './call-frames.ts';
import { messagesPath, missedEvents, read } from './catch-up.ts';
import { EventStream } from './event-stream.ts';
import { OpencodeFrameRecorder } from './frame-recorder.ts';
import { KeptParts } from './kept-parts.ts';
import type { ModelChoice } from './model-choice.ts';
import { OPENCODE_CAPABILITIES, OPENCODE_PROTOCOL_VERSION } from './negotiated.ts';
import { CommandList, ServerEvent } from './opencode-schema.ts';
import { OpenTools } from './open-tools.ts';
import { Requests } from './requests.ts';
import { ServerClient, type Credentials } from './server-client.ts';
import { serverFault, unreadableEvent } from './server-fault.ts';
import { addressOf, healthy } from './server-start.ts';
import { openSession, refusalOf } from './session-opening.ts';
import { fateOf, markOf, messagesOfRun } from './stored-messages.ts';
import { TurnWatch } from './turn-watch.ts';

interface Choice {
  readonly agent?: string;
  readonly model?: ModelChoice;
}

export interface OpencodeDriverParts {
  readonly name: string;
  /** The workspace as the server names it. */
  readonly directory: string;
  /** The workspace by each of its names. */
  readonly roots: readonly string[];
  readonly files: Pick<ClientFiles, 'look'>;
  readonly credentials: Credentials;
  /** What a turn is prompted with beside its text; throws for a model that cannot be one. */
  choice(): Choice;
  /** A call of the model that has failed is tried so many times more. */
  readonly modelRetries: number;
  start(): EngineProcess;
}

interface Running {
  readonly process: EngineProcess;
  readonly gone: Promise<TidemarkError>;
  client: ServerClient | null;
  stream: EventStream | null;
}

const MISSED =
  'the stream of the engine broke off and was taken up again; what it had said meanwhile was read from its session';

/**
 * `opencode serve` as a child process, which only this driver can talk to. `Driver` has the contract.
 *
 * Sub-agents are sessions of their own on the same stream of events: only the end of this session's turn ends the prompt. What the
 * engine asks of a person is answered while its turn goes on. The run's id goes with its prompt, so that after a crash `probe`
 * tells this run's turn from those before it.
 */
export class OpencodeDriver implements Driver {
  readonly #context: DriverContext;
  readonly #parts: OpencodeDriverParts;
  readonly #recorder: OpencodeFrameRecorder;
  readonly #tools = new OpenTools();
  readonly #awaited: AwaitedParty;
  readonly #requests: Requests;
  /** Rejects when the turn cannot go on. */
  readonly #fault = Promise.withResolvers<never>();
  #choice: Choice = {};
  #running: Running | null = null;
  #sessionId: string | null = null;
  #turn: TurnWatch | null = null;
  #closing: Promise<void> | null = null;

  constructor(context: DriverContext, parts: OpencodeDriverParts) {
    this.#context = context;
    this.#parts = parts;
    this.#awaited = new AwaitedParty((party) => context.expect(party));
    const { roots, files } = parts;
    const kept = new KeptParts({ keep: (one) => context.keep(one), roots, files });
    this.#recorder = new OpencodeFrameRecorder({
      emit: (frame) => context.emit(frame),
      keptOf: (event) => kept.keptOf(event),
    });
    this.#requests = new Requests({
      ask: (question, withdrawn) => context.ask(question, withdrawn),
      tools: this.#tools,
      reply: async (call) => void (await this.#call(call)),
      onFault: (error) => this.#fault.reject(error),
    });
    // who prompts is told
    this.#fault.promise.catch(() => undefined);
  }

  async open(known: NativeSession | null): Promise<OpenedSession> {
    const { name } = this.#parts;
    if (this.#closing !== null) throw closedByUs(name);
    // a model that cannot be one is refused before anything is begun
    this.#choice = this.#parts.choice();
    await this.#start();
    const { sessionId, resumed } = await openSession((call) => this.#call(call), { name, known });
    this.#sessionId = sessionId;
    await this.#listCommands();
    return {
      nativeSessionId: sessionId,
      protocolVersion: OPENCODE_PROTOCOL_VERSION,
      capabilities: OPENCODE_CAPABILITIES,
      resumed,
    };
  }

  async prompt(text: string): Promise<TurnEnd> {
    const sessionId = this.#opened();
    const { signal, runId } = this.#context;
    if (signal.aborted) return { outcome: 'cancelled' };
    const turn = new TurnWatch({ sessionId, modelRetries: this.#parts.modelRetries });
    this.#turn = turn;
    const body = { ...this.#choice, parts: [{ type: 'text', text, metadata: markOf(runId) }] };
    const answer = await this.#call({ method: 'POST', path: `/session/${sessionId}/prompt_async`, body });
    if (answer.status >= 300) return { outcome: 'failed', code: 'engine_failed', message: refusalOf(answer) };
    const stop = () => this.#stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      const end = await Promise.race([turn.ended, this.#fault.promise]);
      return signal.aborted && end.outcome === 'failed' ? { outcome: 'cancelled' } : end;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#requests.withdrawAll();
    }
  }

  async probe(): Promise<TurnFate> {
    const { status, body } = await this.#request({ method: 'GET', path: messagesPath(this.#opened()) });
    return status === 200 ? fateOf(messagesOfRun(body, this.#context.runId)) : 'unknown';
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #opened(): string {
    if (this.#sessionId === null) throw new Error('the engine was not opened');
    return this.#sessionId;
  }

  async #start(): Promise<void> {
    const { name, credentials, directory } = this.#parts;
    const process = this.#parts.start();
    const gone = process.exited.then((exit) => {
      const life = { hasBegun: this.#sessionId !== null, isClosing: this.#closing !== null, log: this.#context.log };
      return goneFault({ name, exit }, life);
    });
    const running: Running = (this.#running = { process, gone, client: null, stream: null });
    const client = (running.client = new ServerClient(await addressOf(process.stdout, gone), credentials, directory));
    await healthy(client, gone);
    const stream = (running.stream = new EventStream({
      name,
      gone,
      connect: (signal) => client.events(signal),
      take: async (event) => await this.#hear(event),
      missed: async () => await this.#catchUp(),
    }));
    void stream.ended.then((error) => this.#fault.reject(error));
    await Promise.race([stream.connected, this.#fault.promise]);
  }

  async #hear(text: string): Promise<void> {
    let event: unknown;
    try {
      event = JSON.parse(text);
    } catch {
      await this.#recorder.recordMalformed(text);
      throw unreadableEvent(this.#parts.name);
    }
    const parsed = ServerEvent.safeParse(event).data;
    // that it is there says nothing of whether its turn goes on
    if (parsed !== undefined && parsed.type !== 'server.heartbeat') await this.#take(parsed);
  }

  async #take(event: ServerEvent): Promise<void> {
    await this.#recorder.recordEvent(event);
    this.#tools.take(event);
    this.#awaited.update(this.#tools);
    this.#requests.take(event);
    if (this.#turn?.take(event) === 'stop') this.#stop();
  }

  async #catchUp(): Promise<void> {
    await this.#recorder.recordMissed(MISSED);
    if (this.#turn === null) return;
    const events = await missedEvents({
      sessionId: this.#opened(),
      runId: this.#context.runId,
      get: async (path) => await read((call) => this.#request(call), path),
      hasEnded: (partId) => this.#recorder.hasEnded(partId),
    });
    for (const event of events) await this.#take(event);
  }

  /** It refuses when the turn has just ended by itself: then that end stands. */
  #stop(): void {
    const call: ServerCall = { method: 'POST', path: `/session/${this.#opened()}/abort` };
    void this.#call(call).catch(() => undefined);
  }

  /** What a person may ask for by name; an engine that does not say it works all the same. */
  async #listCommands(): Promise<void> {
    const call: ServerCall = { method: 'GET', path: '/command' };
    const { body } = await this.#request(call);
    const commands = CommandList.safeParse(body).data;
    if (commands === undefined) return;
    const answered = await this.#recorder.recordCall(call);
    // each has the text that it stands for beside its name
    await answered({ status: 200, body: commands.map(({ name, description }) => ({ name, description })) });
  }

  /** A request that the lane keeps, with its answer. */
  async #call(call: ServerCall): Promise<ServerAnswer> {
    const answered = await this.#recorder.recordCall(call);
    const answer = await this.#request(call);
    await answered(answer);
    return answer;
  }

  async #request(call: ServerCall): Promise<ServerAnswer> {
    const { client, gone } = this.#running ?? {};
    if (client == null || gone === undefined) throw new Error('the engine was not opened');
    try {
      return await client.call(call);
    } catch (error) {
      throw await serverFault(error, { name: this.#parts.name, gone });
    }
  }

  async #close(): Promise<void> {
    this.#fault.reject(closedByUs(this.#parts.name));
    const running = this.#running;
    if (running === null) return;
    running.stream?.close();
    await running.process.kill();
    await running.client?.close();
  }
}

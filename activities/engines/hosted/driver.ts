import { TidemarkError } from '../../../contract/errors.ts';
import type { HostedKind } from '../../../infra/engine-settings.ts';
import { faultText } from '../fault-text.ts';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd } from '../driver.ts';
import { closedByUs, goneFault } from '../process/engine-fault.ts';
import type { EngineExit, EngineProcess } from '../process/engine-process.ts';
import { HostConnection } from './host-connection.ts';
import type { HostEnd, HostOpening, HostQuestion, HostSaying } from './host-protocol.ts';
import { HOST_PROTOCOL_VERSION, negotiated } from './negotiated.ts';

const TEXT = 'text/plain; charset=utf-8';

export interface HostedDriverParts {
  readonly name: string;
  readonly kind: HostedKind;
  /** Of the opening, what the driver does not know itself. */
  readonly opening: Pick<HostOpening, 'model' | 'sessions' | 'options'>;
  /** Makes the ids of the agent's questions unique among those of its other processes. */
  readonly launchId: string;
  start(): EngineProcess;
}

/**
 * An agent of the user's in a host process of its own. `Driver` has the contract.
 *
 * The host plays the turn, and asks where its agent does; whatever it does not end by itself ends with its process.
 */
export class HostedDriver implements Driver {
  readonly #context: DriverContext;
  readonly #parts: HostedDriverParts;
  readonly #opened = Promise.withResolvers<Extract<HostSaying, { said: 'opened' | 'refused' }>>();
  readonly #ended = Promise.withResolvers<HostEnd>();
  #running: { readonly process: EngineProcess; readonly connection: HostConnection } | null = null;
  #hasBegun = false;
  #asked = 0;
  #closing: Promise<void> | null = null;

  constructor(context: DriverContext, parts: HostedDriverParts) {
    this.#context = context;
    this.#parts = parts;
  }

  async open(known: NativeSession | null): Promise<OpenedSession> {
    const { name, kind, opening } = this.#parts;
    if (this.#closing !== null) throw closedByUs(name);
    const { connection } = (this.#running = this.#start());
    const { runId, threadId, workspace } = this.#context;
    const taken = known?.protocolVersion === HOST_PROTOCOL_VERSION ? known.nativeSessionId : null;
    connection.tell({ do: 'open', ...opening, known: taken, runId, threadId, workspace });
    const opened = await this.#orGone(this.#opened.promise);
    if (opened.said === 'refused') throw this.#refused(opened);
    this.#hasBegun = true;
    const { nativeSessionId, resumed } = opened;
    const capabilities = negotiated(kind, opened);
    return { nativeSessionId, protocolVersion: HOST_PROTOCOL_VERSION, capabilities, resumed };
  }

  async prompt(text: string): Promise<TurnEnd> {
    const { signal } = this.#context;
    const connection = this.#running?.connection;
    if (connection === undefined) throw new Error('the agent was not opened');
    if (signal.aborted) return { outcome: 'cancelled' };
    const cancelled = Promise.withResolvers<never>();
    const cancel = (): void => void this.#cancel(connection).catch(cancelled.reject);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      connection.tell({ do: 'prompt', text });
      return turnEndOf(await this.#orGone(Promise.race([this.#ended.promise, cancelled.promise])));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #start(): { process: EngineProcess; connection: HostConnection } {
    const process = this.#parts.start();
    const connection = new HostConnection({
      process,
      gone: process.exited.then((exit) => this.#gone(exit)),
      hear: (saying) => this.#hear(saying),
      recordMalformed: (text) => this.#context.emit({ type: 'malformed', dir: 'recv', text }),
    });
    return { process, connection };
  }

  async #hear(saying: HostSaying): Promise<void> {
    switch (saying.said) {
      case 'opened':
      case 'refused':
        this.#opened.resolve(saying);
        return;
      case 'frame':
        await this.#emit(saying);
        return;
      case 'awaits':
        this.#context.expect(saying.who);
        return;
      case 'asks':
        void this.#ask(saying.questions).catch((error: unknown) => this.#running?.connection.end(error as Error));
        return;
      case 'ended':
        this.#ended.resolve(saying.end);
        return;
    }
  }

  /** A long output of a tool is kept out of the log. */
  async #emit({ frame, output }: Extract<HostSaying, { said: 'frame' }>): Promise<void> {
    if (output === undefined) return await this.#context.emit(frame);
    const { toolName, text } = output;
    const kept = await this.#context.keep({ name: `${toolName}.txt`, contentType: TEXT, text });
    await this.#context.emit({ ...frame, kept: { output: kept } });
  }

  /** An answer that nobody can give any more ends the turn. */
  async #ask(questions: readonly HostQuestion[]): Promise<void> {
    const round = `${this.#parts.launchId}:${String(this.#asked++)}`;
    const asked = questions.map((question) => ({ ...question, nativeId: `${round}:${question.nativeId}` }));
    const answers = await Promise.all(asked.map((question) => this.#context.ask(question)));
    const isOver = answers.some(({ status }) => status === 'cancelled');
    this.#running?.connection.tell(isOver ? { do: 'cancel' } : { do: 'answer', answers });
  }

  async #cancel(connection: HostConnection): Promise<void> {
    await this.#context.emit({ type: 'cancel', dir: 'send' });
    connection.tell({ do: 'cancel' });
  }

  async #orGone<T>(work: Promise<T>): Promise<T> {
    const ended = this.#running?.connection.ended ?? Promise.resolve(closedByUs(this.#parts.name));
    const fault = ended.then((error) => Promise.reject(error));
    return await Promise.race([work, fault]);
  }

  #gone(exit: EngineExit): TidemarkError {
    const life = { hasBegun: this.#hasBegun, isClosing: this.#closing !== null, log: this.#context.log };
    return goneFault({ name: this.#parts.name, exit }, life);
  }

  #refused({ what, reason }: { readonly what: string; readonly reason: string }): TidemarkError {
    const { name, kind } = this.#parts;
    this.#context.log.warn({ what, reason }, 'agent cannot be started');
    return new TidemarkError(
      'engine_unavailable',
      `the engine ${name} cannot be started: ${what}`,
      `The worker's log has the reason; docs/engines.md says what a module of the kind ${kind} exports.`,
    );
  }

  async #close(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    running.connection.end(closedByUs(this.#parts.name));
    await running.process.kill();
  }
}

function turnEndOf(end: HostEnd): TurnEnd {
  if (end.outcome !== 'failed') return end;
  return { outcome: 'failed', code: 'engine_failed', message: faultText(end.message) };
}

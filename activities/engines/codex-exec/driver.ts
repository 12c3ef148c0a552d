import { setTimeout as delay } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import { parseJsonObject } from '../../../contract/json-object.ts';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd, UnnamedSession } from '../driver.ts';
import { closedByUs, closedOutput, goneFault } from '../process/engine-fault.ts';
import type { EngineExit, EngineProcess } from '../process/engine-process.ts';
import { linesOf } from '../wire/json-lines.ts';
import type { ExecFrameRecorder } from './frame-recorder.ts';
import type { ExecEvent, ExecInvocation } from './frames.ts';
import { CODEX_EXEC_CAPABILITIES, CODEX_EXEC_PROTOCOL_VERSION } from './negotiated.ts';
import { TurnListener } from './turn-listener.ts';

export interface CodexExecDriverParts {
  readonly name: string;
  /** Whether the engine still keeps a thread. */
  isKept(threadId: string): Promise<boolean>;
  /** The arguments that begin a thread, or take one up. */
  argsOf(threadId: string | null): readonly string[];
  /** @throws TidemarkError `engine_unavailable` when it is not installed. */
  find(): readonly string[];
  start(command: readonly string[]): EngineProcess;
  /** Of a process that is about to be started. */
  recorder(): ExecFrameRecorder;
  /** So long a process may take to end when its turn is over: it writes its thread down in that time. */
  readonly endsWithinMs: number;
}

/** One that has just been started may not heed signals yet. */
const INTERRUPTS_EVERY_MS = 1_000;
const MALFORMED_SHOWN_CHARS = 2_000;

/**
 * `codex exec --json`: one process a turn, that asks nobody. `Driver` has the contract.
 *
 * A process has its prompt from its standard input, and only then says which thread it is: a session that begins has no name until
 * then. A turn is over when its process has ended. SIGINT interrupts it; it says nothing of that and ends.
 */
export class CodexExecDriver implements Driver {
  readonly #context: DriverContext;
  readonly #parts: CodexExecDriverParts;
  #command: readonly string[] = [];
  #threadId: string | null = null;
  #process: EngineProcess | null = null;
  #isClosing = false;
  /** Lines of its output that were read, and those of them that were taken. */
  readonly #lines = { read: 0, taken: 0 };

  constructor(context: DriverContext, parts: CodexExecDriverParts) {
    this.#context = context;
    this.#parts = parts;
  }

  async open(known: NativeSession | null): Promise<OpenedSession | UnnamedSession> {
    this.#command = this.#parts.find();
    const id = known?.protocolVersion === CODEX_EXEC_PROTOCOL_VERSION ? known.nativeSessionId : null;
    this.#threadId = id !== null && (await this.#parts.isKept(id)) ? id : null;
    const session = { protocolVersion: CODEX_EXEC_PROTOCOL_VERSION, capabilities: CODEX_EXEC_CAPABILITIES };
    return this.#threadId === null
      ? { ...session, nativeSessionId: null, resumed: false }
      : { ...session, nativeSessionId: this.#threadId, resumed: true };
  }

  async prompt(text: string): Promise<TurnEnd> {
    const { signal } = this.#context;
    if (signal.aborted) return { outcome: 'cancelled' };
    const recorder = this.#parts.recorder();
    const invocation: ExecInvocation = {
      args: this.#parts.argsOf(this.#threadId),
      threadId: this.#threadId,
      input: text,
    };
    await recorder.recordInvocation(invocation);
    if (this.#isClosing) throw closedByUs(this.#parts.name);
    const process = this.#parts.start([...this.#command, ...invocation.args]);
    this.#process = process;
    const stopInterrupting = interruptAt(signal, process);
    process.stdin.end(text);
    try {
      return await this.#follow(process, recorder);
    } finally {
      stopInterrupting();
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#process?.kill();
  }

  /** What a process says, to its end. */
  async #follow(process: EngineProcess, recorder: ExecFrameRecorder): Promise<TurnEnd> {
    const listener = new TurnListener(this.#context, this.#threadId);
    const { exited } = process;
    const reading = this.#read(process, recorder, listener);
    // of the turn, the process and its output one ends first, and the others soon after; a descendant may hold the output for ever
    const first = Promise.race([listener.over, exited, reading]);
    await Promise.race([Promise.all([reading, exited]), first.then(async () => await this.#untilNothingComes())]);
    process.stdout.destroy();
    return listener.end ?? this.#unsaidEnd(await Promise.race([exited, Promise.resolve(null)]), listener);
  }

  /** What was said and is not stored yet is waited for, however long that takes. */
  async #untilNothingComes(): Promise<void> {
    let before: number;
    do {
      before = this.#lines.taken;
      await delay(this.#parts.endsWithinMs, undefined, { ref: false });
    } while (this.#lines.taken !== before || this.#lines.taken !== this.#lines.read);
  }

  async #read(process: EngineProcess, recorder: ExecFrameRecorder, listener: TurnListener): Promise<void> {
    for await (const line of linesOf(process.stdout)) {
      this.#lines.read += 1;
      const event: ExecEvent | null = parseJsonObject(line);
      if (event === null || typeof event['type'] !== 'string') {
        await recorder.recordMalformed(previewText(line, MALFORMED_SHOWN_CHARS));
        throw noEvent();
      }
      await recorder.record(event);
      await listener.hear(event);
      this.#lines.taken += 1;
    }
  }

  /** The end of a turn of which the engine said none: it was interrupted, gave up with an error, or died. */
  #unsaidEnd(exit: EngineExit | null, { threadId, lastError }: TurnListener): TurnEnd {
    const { signal, log } = this.#context;
    if (exit === null) throw closedOutput();
    const hasEndedItself = exit.signal === null && !exit.overMemory && threadId !== null;
    if (hasEndedItself && signal.aborted) return { outcome: 'cancelled' };
    if (hasEndedItself && lastError !== null) return { outcome: 'failed', code: 'engine_failed', message: lastError };
    throw goneFault({ name: this.#parts.name, exit }, { hasBegun: threadId !== null, isClosing: this.#isClosing, log });
  }
}

/** Interrupts a process from when `signal` aborts until what it returns is called. */
function interruptAt(signal: AbortSignal, process: EngineProcess): () => void {
  let again: NodeJS.Timeout | undefined;
  const interrupt = (): void => {
    process.interrupt();
    again = setInterval(() => process.interrupt(), INTERRUPTS_EVERY_MS);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  if (signal.aborted) interrupt();
  return () => {
    signal.removeEventListener('abort', interrupt);
    clearInterval(again);
  };
}

function noEvent(): TidemarkError {
  return new TidemarkError(
    'engine_protocol_error',
    'the engine printed a line that is no event',
    'The frame `malformed` of the run shows the line. Check that its command is Codex, up to `exec`.',
  );
}

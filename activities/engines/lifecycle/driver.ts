import { setTimeout as delay } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';
import { legRunId } from '../../../contract/lifecycle-projection.ts';
import {
  isTerminal,
  type LifecycleEvent,
  type LifecycleEventOf,
  type TerminalType,
} from '../../../contract/lifecycle.ts';
import type { Driver, DriverContext, NativeSession, OpenedSession, TurnEnd } from '../driver.ts';
import { correlationIdAt, faultyEnd, turnEndOf } from './ending.ts';
import { framesOf, refusedFrame } from './frames.ts';
import { decisionOf, questionsOf, type Interrupt } from './interrupt.ts';
import { negotiated } from './negotiated.ts';
import type { AdapterPeer, StreamSignals } from './peer.ts';
import { StreamJudge, type StreamFault } from './stream-judge.ts';

/** So long a stream may stay open behind its terminal. */
const CLOSES_WITHIN_MS = 2_000;

type StreamEnd = { readonly end: TurnEnd } | { readonly interrupt: Interrupt };

/**
 * An adapter that speaks Canonical Lifecycle Events v1, in this process or as a service. `Driver` has the contract.
 *
 * Every event is judged as it is yielded. The first that breaks a rule ends the adapter and the turn; of it the lane, the log and the
 * turn's end say the rule and the type, never what it held. An interrupt is asked, and the answer resumes the turn by a stream of its own.
 */
export class LifecycleDriver implements Driver {
  readonly #context: DriverContext;
  readonly #name: string;
  readonly #connect: () => AdapterPeer;
  readonly #abandoned = new AbortController();
  #peer: AdapterPeer | null = null;
  #session: OpenedSession | null = null;
  #streamId: string | null = null;
  #expected: 'model' | 'tool' = 'model';

  /** `connect` may throw: `open` does then. */
  constructor(context: DriverContext, name: string, connect: () => AdapterPeer) {
    this.#context = context;
    this.#name = name;
    this.#connect = connect;
  }

  async open(known: NativeSession | null): Promise<OpenedSession> {
    const { threadId } = this.#context;
    this.#peer = this.#connect();
    const capabilities = negotiated(await this.#peer.capabilities(this.#abandoned.signal));
    const resumed = known?.nativeSessionId === threadId && capabilities.resume;
    this.#session = { nativeSessionId: threadId, protocolVersion: '1', capabilities, resumed };
    return this.#session;
  }

  async prompt(input: string): Promise<TurnEnd> {
    const { runId, threadId, model, signal } = this.#context;
    const peer = this.#peer;
    const session = this.#session;
    if (peer === null || session === null) throw new Error('prompt before open');
    if (signal.aborted) return { outcome: 'cancelled' };
    const signals: StreamSignals = { cancelled: signal, abandoned: this.#abandoned.signal };
    const onAbort = (): void => this.#cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const request = { run_id: runId, conversation_id: threadId, input, model, resumed: session.resumed };
      let stream = peer.stream(request, signals);
      for (let leg = 1; ; leg++) {
        const interruptedId = legRunId(runId, leg);
        this.#streamId = interruptedId;
        const ended = await this.#follow(stream, interruptedId);
        if ('end' in ended) return ended.end;
        const resume = await this.#answered(ended.interrupt, interruptedId);
        if (resume === null || signal.aborted) return this.#cancelledWhileAsked();
        const answer = {
          run_id: legRunId(runId, leg + 1),
          conversation_id: threadId,
          interrupted_run_id: interruptedId,
          interrupt_id: ended.interrupt.interrupt_id,
          resume,
        };
        stream = peer.resume(answer, signals);
      }
    } finally {
      this.#streamId = null;
      signal.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    this.#abandoned.abort(new Error('the driver is closed'));
    await this.#peer?.close().catch(() => undefined);
  }

  /** One stream, to its terminal and its close. */
  async #follow(stream: AsyncIterable<unknown>, streamId: string): Promise<StreamEnd> {
    const judge = new StreamJudge({ run_id: streamId, conversation_id: this.#context.threadId });
    const events = stream[Symbol.asyncIterator]();
    let terminal: LifecycleEventOf<TerminalType> | null = null;
    let interrupt: Interrupt | null = null;
    let count = 0;
    try {
      for (;;) {
        const next = await this.#next(events, terminal !== null);
        if (next === null || next.done === true) break;
        const taken = judge.take(next.value);
        count += 1;
        if ('fault' in taken) return { end: await this.#refuse(taken.fault, streamId, count) };
        const { event } = taken;
        await this.#say(event, judge);
        if (event.type === 'interrupt.requested') interrupt = event.data;
        if (isTerminal(event)) terminal = event;
      }
    } catch (error) {
      if (terminal === null) return { end: this.#broken(error, streamId, count) };
    } finally {
      letGo(events);
    }
    const fault = judge.finish();
    if (terminal === null || fault !== null) {
      if (this.#context.signal.aborted) return { end: { outcome: 'cancelled' } };
      return { end: await this.#refuse(fault ?? UNFINISHED, streamId, count) };
    }
    if (terminal.type !== 'run.interrupted') {
      return { end: turnEndOf(terminal, this.#session?.capabilities.resume === true) };
    }
    return interrupt === null ? { end: await this.#refuse(UNFINISHED, streamId, count) } : { interrupt };
  }

  /** The next value; null when the stream stays open behind its terminal. */
  async #next(events: AsyncIterator<unknown>, hasEnded: boolean): Promise<IteratorResult<unknown> | null> {
    const { signal } = this.#abandoned;
    const settled = new AbortController();
    const gone = new Promise<never>((_, reject) => {
      const give = (): void =>
        reject(new TidemarkError('engine_lost', `the engine ${this.#name} was closed`, 'Run it again.'));
      if (signal.aborted) give();
      signal.addEventListener('abort', give, { once: true, signal: settled.signal });
    });
    const waits: Promise<IteratorResult<unknown> | null>[] = [events.next(), gone];
    if (hasEnded) waits.push(delay(CLOSES_WITHIN_MS, null, { ref: false, signal: settled.signal }));
    // whichever loses may still fail; the race has said what counts
    for (const wait of waits) wait.catch(() => undefined);
    try {
      return await Promise.race(waits);
    } finally {
      settled.abort();
    }
  }

  async #say(event: LifecycleEvent, judge: StreamJudge): Promise<void> {
    for (const frame of framesOf(event)) await this.#context.emit(frame);
    const expected = judge.hasOpenTool ? 'tool' : 'model';
    if (expected === this.#expected) return;
    this.#expected = expected;
    this.#context.expect(expected);
  }

  async #refuse(fault: StreamFault, streamId: string, count: number): Promise<TurnEnd> {
    const correlationId = correlationIdAt(streamId, count);
    this.#context.log.warn({ ...fault, streamId, correlationId }, 'lifecycle event refused');
    this.#cancel();
    this.#abandoned.abort(new Error('the adapter broke its contract'));
    await this.#context.emit(refusedFrame(fault));
    return faultyEnd(fault, correlationId);
  }

  /** What an adapter throws is its own: neither shown nor logged. */
  #broken(error: unknown, streamId: string, count: number): TurnEnd {
    if (this.#context.signal.aborted) return { outcome: 'cancelled' };
    if (error instanceof TidemarkError) throw error;
    const correlationId = correlationIdAt(streamId, count);
    this.#context.log.warn({ streamId, correlationId }, 'lifecycle adapter threw');
    const message = `the adapter ended with an error of its own (correlation id ${correlationId})`;
    return { outcome: 'failed', code: 'engine_failed', message };
  }

  async #answered(interrupt: Interrupt, streamId: string) {
    const questions = questionsOf(interrupt, streamId);
    const answers = await Promise.all(questions.map((question) => this.#context.ask(question)));
    return decisionOf(interrupt, answers);
  }

  #cancelledWhileAsked(): TurnEnd {
    this.#cancel();
    return { outcome: 'cancelled' };
  }

  #cancel(): void {
    const run_id = this.#streamId;
    if (run_id === null || this.#peer === null) return;
    this.#streamId = null;
    const told = this.#peer.cancel({ run_id, conversation_id: this.#context.threadId });
    told.catch(() => this.#context.log.debug({ run_id }, 'adapter not told to cancel'));
  }
}

const UNFINISHED: StreamFault = {
  rule: 12,
  reason: 'the stream closed without a terminal event',
  eventType: 'unknown',
};

/** A generator in the middle of its work returns when it next yields; nobody waits for it. */
function letGo(events: AsyncIterator<unknown>): void {
  void events.return?.().catch(() => undefined);
}

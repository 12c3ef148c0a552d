import type { TurnEnd } from '../driver.ts';
import { faultText } from '../fault-text.ts';
import {
  MessageUpdate,
  PartUpdate,
  Scope,
  SessionError,
  SessionStatus,
  type NamedError,
  type ServerEvent,
} from './opencode-schema.ts';

/** So long after its end a turn may still tell how its last message ended. */
const LAST_WORDS_WITHIN_MS = 2_000;
const ABORTED = 'MessageAbortedError';
const STOP_REASONS: Readonly<Record<string, string>> = { length: 'length', 'content-filter': 'content_filter' };

/**
 * Watches the events of a turn for its end.
 *
 * **Contract:** `ended` resolves once: when the session is idle and its last message is whole. A turn that was stopped says that it
 * is idle first, and what became of its tools after that.
 */
export class TurnWatch {
  readonly #sessionId: string;
  readonly #modelRetries: number;
  readonly #ended = Promise.withResolvers<TurnEnd>();
  readonly ended: Promise<TurnEnd> = this.#ended.promise;
  readonly #open = new Set<string>();
  #fault: NamedError | null = null;
  /** Why its model is not asked again. */
  #givenUp: string | null = null;
  #finish = '';
  #isIdle = false;

  constructor({ sessionId, modelRetries }: { sessionId: string; modelRetries: number }) {
    this.#sessionId = sessionId;
    this.#modelRetries = modelRetries;
  }

  /** Takes an event, of any session; says whether the turn is to be stopped, because its model failed too often. */
  take({ type, properties }: ServerEvent): 'go on' | 'stop' {
    if (type === 'session.status') return this.#takeStatus(properties);
    if (Scope.safeParse(properties).data?.sessionID !== this.#sessionId) return 'go on';
    if (type === 'session.error') this.#fault = SessionError.safeParse(properties).data?.error ?? null;
    // the model answers: what had failed is made good
    if (PartUpdate.safeParse(properties).data?.part.type === 'step-start') this.#fault = null;
    if (type === 'message.updated') this.#takeMessage(properties);
    if (type === 'session.idle') this.#takeIdle();
    if (this.#isIdle && this.#open.size === 0) this.#settle();
    return 'go on';
  }

  #takeStatus(properties: unknown): 'go on' | 'stop' {
    const status = SessionStatus.safeParse(properties).data?.status;
    if (status?.type !== 'retry' || status.attempt <= this.#modelRetries || this.#givenUp !== null) return 'go on';
    this.#givenUp = status.message;
    return 'stop';
  }

  #takeMessage(properties: unknown): void {
    const message = MessageUpdate.safeParse(properties).data?.info;
    if (message?.role !== 'assistant') return;
    if (message.error != null) this.#fault = message.error;
    if (message.finish != null) this.#finish = message.finish;
    if (message.time.completed == null) this.#open.add(message.id);
    else this.#open.delete(message.id);
  }

  #takeIdle(): void {
    if (!this.#isIdle) setTimeout(() => this.#settle(), LAST_WORDS_WITHIN_MS).unref();
    this.#isIdle = true;
  }

  #settle(): void {
    this.#ended.resolve(this.#end());
  }

  #end(): TurnEnd {
    if (this.#givenUp !== null) return failed(this.#givenUp);
    const fault = this.#fault;
    if (fault === null) return { outcome: 'completed', stopReason: stopReasonOf(this.#finish) };
    if (fault.name === ABORTED) return { outcome: 'cancelled' };
    return failed(fault.data?.message ?? fault.name);
  }
}

function stopReasonOf(finish: string): string {
  return (Object.hasOwn(STOP_REASONS, finish) ? STOP_REASONS[finish] : undefined) ?? 'end_turn';
}

function failed(message: string): TurnEnd {
  return { outcome: 'failed', code: 'engine_failed', message: faultText(message) };
}

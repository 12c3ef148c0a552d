import { AwaitedParty } from '../awaited-party.ts';
import { faultText } from '../fault-text.ts';
import type { DriverContext, TurnEnd } from '../driver.ts';
import { ErrorEvent, ItemEvent, ThreadStarted, toolItemOf, TurnFailed } from './exec-schema.ts';
import type { ExecEvent } from './frames.ts';
import { isRetry } from './retry.ts';

/** What the driver itself needs of what a process says: its thread, how the turn ended, and whom it waits for. */
export class TurnListener {
  readonly #context: Pick<DriverContext, 'named' | 'expect'>;
  readonly #awaited: AwaitedParty;
  readonly #openTools = new Set<string>();
  readonly #over = Promise.withResolvers<void>();
  readonly #known: string | null;
  #threadId: string | null = null;
  #end: TurnEnd | null = null;
  #lastError: string | null = null;

  /** `known`: the thread that the process was told to take up. */
  constructor(context: Pick<DriverContext, 'named' | 'expect'>, known: string | null) {
    this.#context = context;
    this.#known = known;
    this.#awaited = new AwaitedParty((party) => context.expect(party));
  }

  get threadId(): string | null {
    return this.#threadId;
  }

  /** How the turn ended, by the engine's own word; null while it has none. */
  get end(): TurnEnd | null {
    return this.#end;
  }

  /** Resolves with the end. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** What the engine gave up with. */
  get lastError(): string | null {
    return this.#lastError;
  }

  async hear(event: ExecEvent): Promise<void> {
    switch (event['type']) {
      case 'thread.started':
        await this.#named(event);
        return;
      case 'item.started':
      case 'item.completed':
        this.#await(event);
        return;
      case 'turn.completed':
        this.#ended({ outcome: 'completed', stopReason: 'end_turn' });
        return;
      case 'turn.failed': {
        const message = faultText(TurnFailed.safeParse(event).data?.error.message);
        this.#ended({ outcome: 'failed', code: 'engine_failed', message });
        return;
      }
      case 'error': {
        const message = ErrorEvent.safeParse(event).data?.message;
        if (message !== undefined && !isRetry(message)) this.#lastError = faultText(message);
        return;
      }
      default:
    }
  }

  #ended(end: TurnEnd): void {
    this.#end ??= end;
    this.#over.resolve();
  }

  async #named(event: ExecEvent): Promise<void> {
    const threadId = ThreadStarted.safeParse(event).data?.thread_id;
    if (threadId === undefined) return;
    this.#threadId = threadId;
    if (threadId !== this.#known) await this.#context.named(threadId);
  }

  #await(event: ExecEvent): void {
    const item = ItemEvent.safeParse(event).data?.item;
    if (item === undefined || toolItemOf(item) === null) return;
    if (event['type'] === 'item.started') this.#openTools.add(item.id);
    else this.#openTools.delete(item.id);
    this.#awaited.update({ isOneOpen: this.#openTools.size > 0 });
  }
}

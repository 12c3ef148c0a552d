import type { BusEventName, BusEventOf, EmittedEvent } from './bus-event.ts';

export type AnyHandler = (event: EmittedEvent) => unknown;
export type Handler<Name extends string> = (
  event: Name extends BusEventName ? BusEventOf<Name> : EmittedEvent,
) => unknown;

interface Subscription {
  readonly owner: string | null;
  readonly handler: AnyHandler;
  isActive: boolean;
}

export interface EventBusOptions {
  /** Told of every event after its handlers; `owner` is who emitted it, null for the engine itself. */
  readonly onEmitted?: (event: EmittedEvent, owner: string | null) => void;
  /** Told of a failure of a handler that cannot be said on the bus: it was handling one. */
  readonly onUnsaid?: (failure: { readonly owner: string | null; readonly error: string }) => void;
}

/** Handlers that emit in turn nest so deep at most: a circle of two extensions must end. */
const MAX_DEPTH = 16;
const ERROR_CHARS = 500;

/**
 * The bus of the built-in engine.
 *
 * **Contract:** synchronous. An event goes to the handlers of its type in the order of their subscription, then to those of
 * `*`; the list is the one of when it was emitted, but a handler that was removed meanwhile is skipped. What a handler returns
 * is ignored; what it throws, at once or by a promise, becomes an `extension-error` and reaches nobody else; what it throws
 * while it handles an `extension-error` is not said again. `emit` itself never throws.
 */
export class EventBus {
  readonly #subscriptions = new Map<string, Subscription[]>();
  readonly #options: EventBusOptions;
  #depth = 0;

  constructor(options: EventBusOptions = {}) {
    this.#options = options;
  }

  /** Subscribes to the events of a type, or to all by `*`; the returned function ends it. */
  on<Name extends string>(type: Name, handler: Handler<Name>, owner: string | null = null): () => void {
    const subscription: Subscription = { owner, handler: handler as AnyHandler, isActive: true };
    this.#subscriptions.set(type, [...(this.#subscriptions.get(type) ?? []), subscription]);
    return () => this.#end(type, (other) => other === subscription);
  }

  emit(event: EmittedEvent, owner: string | null = null): void {
    if (typeof event.type !== 'string' || event.type === '') return;
    if (this.#depth >= MAX_DEPTH)
      return this.#unsaid(owner, `events nest over ${String(MAX_DEPTH)} deep; ${event.type} is dropped`);
    const handlers = [...(this.#subscriptions.get(event.type) ?? []), ...(this.#subscriptions.get('*') ?? [])];
    this.#depth++;
    try {
      for (const subscription of handlers) if (subscription.isActive) this.#handle(subscription, event);
    } finally {
      this.#depth--;
    }
    this.#options.onEmitted?.(event, owner);
  }

  /** Whether anybody would get an event of this type. */
  hears(type: string): boolean {
    return this.#subscriptions.has(type) || this.#subscriptions.has('*');
  }

  /** Drops all subscriptions of an owner. */
  endOwner(owner: string): void {
    for (const type of Array.from(this.#subscriptions.keys())) this.#end(type, (other) => other.owner === owner);
  }

  #handle({ handler, owner }: Subscription, event: EmittedEvent): void {
    try {
      const returned = handler(event);
      if (returned instanceof Promise) returned.catch((error: unknown) => this.#failed(owner, event, error));
    } catch (error) {
      this.#failed(owner, event, error);
    }
  }

  #failed(owner: string | null, event: EmittedEvent, thrown: unknown): void {
    const error = firstLineOf(thrown);
    if (event.type === 'extension-error') return this.#unsaid(owner, error);
    const known = owner === null ? {} : { owner };
    this.emit({ type: 'extension-error', error, event: event.type, ...known }, owner ?? '');
  }

  #unsaid(owner: string | null, error: string): void {
    this.#options.onUnsaid?.({ owner, error });
  }

  #end(type: string, isMeant: (subscription: Subscription) => boolean): void {
    const all = this.#subscriptions.get(type) ?? [];
    for (const subscription of all) if (isMeant(subscription)) subscription.isActive = false;
    const left = all.filter(({ isActive }) => isActive);
    if (left.length === 0) this.#subscriptions.delete(type);
    else this.#subscriptions.set(type, left);
  }
}

/** What was thrown, in one bounded line. */
export function firstLineOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return (message.split('\n', 1)[0] ?? '').slice(0, ERROR_CHARS).toWellFormed() || 'an error without a message';
}

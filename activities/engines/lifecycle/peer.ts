import type { LifecycleCancel, LifecycleRequest, LifecycleResume } from './adapter.ts';

export interface StreamSignals {
  /** The turn is to end: the adapter is to say `run.cancelled`. */
  readonly cancelled: AbortSignal;
  /** Nobody reads any more. */
  readonly abandoned: AbortSignal;
}

/**
 * An adapter, wherever it runs. What it yields is not yet known to be an event.
 *
 * **Contract:** a stream that is returned or abandoned is let go.
 *
 * @throws TidemarkError `engine_unavailable` (not there, or refuses), `engine_lost` (broke off), `engine_protocol_error`.
 */
export interface AdapterPeer {
  capabilities(signal: AbortSignal): Promise<unknown>;
  stream(request: LifecycleRequest, signals: StreamSignals): AsyncIterable<unknown>;
  resume(request: LifecycleResume, signals: StreamSignals): AsyncIterable<unknown>;
  cancel(request: LifecycleCancel): Promise<void>;
  /** Lets go of every connection. */
  close(): Promise<void>;
}

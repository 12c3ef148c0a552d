/** What the bench asks the process that holds the subscribers; each gets one answer. */
export type SubscriberOrder =
  /** Connects so many, `sampled` of which note when each delivery came. */
  | { readonly do: 'connect'; readonly url: string; readonly count: number; readonly sampled: number }
  /** Forgets what was noted. */
  | { readonly do: 'begin' }
  | { readonly do: 'report' }
  | { readonly do: 'disconnect' };

export interface SubscriberReport {
  readonly connected: number;
  readonly cut: number;
  readonly bytes: number;
  /** The cursor of the subscriber that is furthest behind. */
  readonly slowest: number;
  /** What the sampled subscribers saw: cursor and time (milliseconds since the epoch), alternating. */
  readonly seen: readonly number[];
  /** Deliveries that a sampled subscriber got out of order or not at all before a later one. */
  readonly gaps: number;
}

/** What the bench tells the plain fan-out: one event to write to everybody. */
export interface PlainEvent {
  readonly frame: string;
}

/** Milliseconds since the epoch, finer than `Date.now`. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

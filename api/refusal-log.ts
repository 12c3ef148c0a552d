import type { LifecycleType } from '../contract/lifecycle.ts';
import type { RuleNumber } from '../contract/lifecycle-state.ts';
import type { Logger } from '../infra/log.ts';

/** An event that a leg was ended for, as it may be logged: no part of its payload. */
export interface RefusedEvent {
  readonly runId: string;
  readonly deliverySeq: number;
  readonly correlationId: string;
  readonly rule: RuleNumber | null;
  readonly reason: string;
  readonly type: LifecycleType;
}

const REMEMBERED = 1_000;

/** The log of what the coordinator boundary refused: a line for each event, however many streams end by it. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #known = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  note(refused: RefusedEvent): void {
    const { correlationId } = refused;
    if (this.#known.has(correlationId)) return;
    this.#known.add(correlationId);
    const [oldest] = this.#known;
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    this.#log.error(refused, 'lifecycle event refused; its stream was ended');
  }
}

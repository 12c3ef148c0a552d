import type { ErrorCode } from '../../contract/errors.ts';
import type { EngineLimits } from '../engines/driver.ts';

const EVERY_MS = 250;

/** Why a turn is ended by its limits. */
export interface LimitReached {
  readonly code: Extract<ErrorCode, 'engine_stalled' | 'engine_time_limit'>;
  readonly message: string;
}

/**
 * Watches an engine's silence and its time (design §3: "a wall-clock cap and a progress watchdog end runs that heartbeats alone
 * would keep alive for ever").
 *
 * **Contract:** the time in which a person is asked counts for neither. `onLimit` is called once.
 */
export class TurnWatchdog {
  readonly #limits: EngineLimits;
  readonly #onLimit: (limit: LimitReached) => void;
  readonly #timer: NodeJS.Timeout;
  #who: 'model' | 'tool' = 'model';
  #held = 0;
  #silentMs = 0;
  #workedMs = 0;
  #lookedAt = performance.now();

  constructor(limits: EngineLimits, onLimit: (limit: LimitReached) => void) {
    this.#limits = limits;
    this.#onLimit = onLimit;
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  /** The engine said something. */
  heard(): void {
    this.#silentMs = 0;
  }

  expect(who: 'model' | 'tool'): void {
    if (who !== this.#who) this.#silentMs = 0;
    this.#who = who;
  }

  /** A person is asked; release it when they have answered. */
  hold(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
      this.#silentMs = 0;
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    // a process that was stopped, or whose loop was blocked, could hear nothing: that time proves no silence
    const passedMs = Math.min(now - this.#lookedAt, 4 * EVERY_MS);
    this.#lookedAt = now;
    if (this.#held > 0) return;
    this.#silentMs += passedMs;
    this.#workedMs += passedMs;
    const { stallMs, toolStallMs, turnMs } = this.#limits;
    const silence = this.#who === 'tool' ? toolStallMs : stallMs;
    if (this.#silentMs >= silence) {
      const during = this.#who === 'tool' ? ' while a tool ran' : '';
      this.#reached({ code: 'engine_stalled', message: `the engine said nothing for ${seconds(silence)}${during}` });
    } else if (this.#workedMs >= turnMs) {
      this.#reached({ code: 'engine_time_limit', message: `the turn took longer than ${seconds(turnMs)}` });
    }
  }

  #reached(limit: LimitReached): void {
    this.stop();
    this.#onLimit(limit);
  }
}

function seconds(ms: number): string {
  return `${String(Math.round(ms / 100) / 10)} s`;
}

import type { TurnEnd } from '../driver.ts';
import { faultText } from './fault-text.ts';
import type { PiMessage } from './pi-frames.ts';
import { MessageFrame } from './pi-schema.ts';

/** What a message says about the end of a turn: that it is over, or that it is, unless more follows at once. */
export type Settling = 'settled' | 'unless-more-follows' | null;

/** What follows the end of a run of pi's loop when it goes on by itself. */
const MORE: ReadonlySet<string> = new Set(['agent_start', 'auto_retry_start', 'compaction_start']);

/**
 * Sees from pi's messages when its turn is over and how.
 *
 * **Contract:** `agent_end` is the end of one run of its loop, and a retry, a compaction or a queued input may start the next:
 * `agent_settled` says that none will. pi of before 1.0 never says that: there the last `agent_end` counts, after which nothing more
 * had come when pi answered another command.
 */
export class TurnWatch {
  #knowsSettled = false;
  #mayBeOver = false;
  #isAborted = false;
  #last: { readonly stopReason: string; readonly errorMessage: string | null } | null = null;

  take(message: PiMessage): Settling {
    switch (message.type) {
      case 'agent_settled':
        this.#isAborted = message['aborted'] === true;
        return 'settled';
      case 'agent_end':
        this.#knowsSettled ||= typeof message['willRetry'] === 'boolean';
        this.#mayBeOver = !this.#knowsSettled;
        return this.#mayBeOver ? 'unless-more-follows' : null;
      case 'message_end': {
        const ended = MessageFrame.safeParse(message).data?.message;
        if (ended?.role === 'assistant') {
          this.#last = { stopReason: ended.stopReason, errorMessage: ended.errorMessage ?? null };
        }
        return null;
      }
      default:
        if (MORE.has(message.type)) this.#mayBeOver = false;
        return null;
    }
  }

  /** Whether nothing has followed the end of the loop. */
  get isStillOver(): boolean {
    return this.#mayBeOver;
  }

  /** How the turn ended, when it is over: as its last message says. */
  get end(): TurnEnd {
    const { stopReason = '', errorMessage = null } = this.#last ?? {};
    if (this.#isAborted || stopReason === 'aborted') return { outcome: 'cancelled' };
    if (stopReason === 'error') return { outcome: 'failed', code: 'engine_failed', message: faultText(errorMessage) };
    return { outcome: 'completed', stopReason: stopReason === 'length' ? 'max_tokens' : 'end_turn' };
  }
}

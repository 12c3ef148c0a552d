import { z } from 'zod';
import type { TurnEnd } from '../driver.ts';
import type { ClaudeMessage } from './claude-frames.ts';
import { ResultMessage } from './claude-schema.ts';
import { faultText } from './fault-text.ts';

const StateChange = z.object({
  type: z.literal('system'),
  subtype: z.literal('session_state_changed'),
  state: z.string(),
});

/** What a run may be told as the reason of an end that went well. */
const STOP_REASONS: ReadonlySet<string> = new Set(['end_turn', 'max_tokens', 'refusal']);
/** What the program notes for its makers, among its reasons. */
const DIAGNOSTIC = /^\[\w+\]/;

/**
 * Finds the end of a turn among the messages of a program.
 *
 * A prompt may take several rounds, each with a result of its own: a sub-agent that was sent off gives the model another word when
 * it has ended. The program says that it is idle when no round follows; one that does not say its state is taken to be so with a
 * result behind which no sub-agent works. A turn that is to stop does not wait for sub-agents.
 */
export class TurnSettling {
  #last: TurnEnd | null = null;
  #saysItsState = false;

  /** Takes a message; the turn's end where it is that. */
  take(message: ClaudeMessage, at: { readonly isStopping: boolean; readonly isOneSentOff: boolean }): TurnEnd | null {
    const state = StateChange.safeParse(message).data?.state;
    if (state !== undefined) {
      this.#saysItsState = true;
      return state === 'idle' ? this.#last : null;
    }
    if (message['type'] !== 'result') return null;
    const result = ResultMessage.safeParse(message).data;
    if (result === undefined) return null;
    this.#last = turnEndOf(result);
    // of one that is to stop, a sub-agent keeps it from being idle
    const isSettled = at.isOneSentOff ? at.isStopping : !this.#saysItsState;
    return isSettled ? this.#last : null;
  }
}

/** How a round ended, by the program's own word. A failure of its model is one that it calls a success. */
export function turnEndOf(result: ResultMessage): TurnEnd {
  const { subtype, is_error: isError, stop_reason: reason, terminal_reason: terminal } = result;
  if (terminal?.startsWith('aborted') === true) return { outcome: 'cancelled' };
  if (isError || subtype !== 'success') return { outcome: 'failed', code: 'engine_failed', message: reasonOf(result) };
  return { outcome: 'completed', stopReason: reason != null && STOP_REASONS.has(reason) ? reason : 'end_turn' };
}

/** Why a result is a failure: the sentence, safe to show. */
export function reasonOf({ result, errors, subtype }: ResultMessage): string {
  const said = [result, ...errors.filter((error) => !DIAGNOSTIC.test(error))].find((text) => text !== '');
  return said === undefined && subtype !== 'success' ? subtype : faultText(said ?? '');
}

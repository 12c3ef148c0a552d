import { hashText } from '../../../contract/lifecycle-text-hash.ts';
import type { LifecycleEventOf } from '../../../contract/lifecycle.ts';
import { safeMessage } from '../../../contract/sanitize.ts';
import type { TurnEnd } from '../driver.ts';
import type { StreamFault } from './stream-judge.ts';

const MESSAGE_CHARS = 1_000;

type Terminal = LifecycleEventOf<'run.finished' | 'run.cancelled' | 'run.error'>;

/** The end of a turn as its terminal says it. `isDurable`: the adapter keeps sessions, so a finish must show a committed state (rule 13). */
export function turnEndOf(terminal: Terminal, isDurable: boolean): TurnEnd {
  switch (terminal.type) {
    case 'run.finished': {
      const { stop_reason: stopReason, thread_state } = terminal.data;
      if (!isDurable || thread_state?.durability === 'committed') return { outcome: 'completed', stopReason };
      const message =
        'the adapter did not commit its session: what this turn did may not be in the history of the next';
      return { outcome: 'failed', code: 'thread_durability_uncertain', message };
    }
    case 'run.cancelled':
      return { outcome: 'cancelled' };
    case 'run.error': {
      const { code, message } = terminal.data;
      const isUncertain = code === 'thread_durability_uncertain';
      const shown = safeMessage(`${message} (${code})`, MESSAGE_CHARS);
      return { outcome: 'failed', code: isUncertain ? code : 'engine_failed', message: shown };
    }
  }
}

/** The end of a turn whose stream broke a rule. */
export function faultyEnd({ rule, reason }: StreamFault, correlationId: string): TurnEnd {
  const what = rule === null ? 'the envelope' : `rule ${String(rule)}`;
  const message = safeMessage(
    `the adapter broke ${what} of lifecycle v1: ${reason} (correlation id ${correlationId})`,
    MESSAGE_CHARS,
  );
  return { outcome: 'failed', code: rule === 12 ? 'harness_stream_closed' : 'harness_event_invalid', message };
}

/** What links a turn's end to its line in the log: made from where the stream stood. */
export function correlationIdAt(streamId: string, events: number): string {
  return `ref_${hashText(`${streamId}:${String(events)}`)}`;
}

import type { TurnEnd, TurnFate } from '../driver.ts';
import type { TurnMessage } from './codex-schema.ts';
import { faultText } from '../fault-text.ts';

/** How a turn ended, by the engine's own word. */
export function turnEndOf({ status, error }: TurnMessage['turn']): TurnEnd {
  if (status === 'completed') return { outcome: 'completed', stopReason: 'end_turn' };
  if (status === 'interrupted') return { outcome: 'cancelled' };
  return { outcome: 'failed', code: 'engine_failed', message: faultText(error?.message) };
}

/** What became of a turn that nobody watched. One that was cut off has no end of its own: it is gone on with. */
const FATES: Readonly<Record<string, TurnFate>> = {
  completed: 'completed',
  failed: 'failed',
  inProgress: 'in_progress',
};

export function turnFateOf(status: string): TurnFate {
  return Object.hasOwn(FATES, status) ? (FATES[status] ?? 'unknown') : 'unknown';
}

import { previewText } from '../../../contract/frames.ts';
import type { TurnEnd, TurnFate } from '../driver.ts';
import type { TurnMessage } from './codex-schema.ts';

const MESSAGE_CHARS = 1_000;

/** How a turn ended, by the engine's own word. */
export function turnEndOf({ status, error }: TurnMessage['turn']): TurnEnd {
  if (status === 'completed') return { outcome: 'completed', stopReason: 'end_turn' };
  if (status === 'interrupted') return { outcome: 'cancelled' };
  return { outcome: 'failed', code: 'engine_failed', message: faultText(error?.message) };
}

/** What became of a turn that nobody watched: one that was cut off did not do what it was to do. */
const FATES: Readonly<Record<string, TurnFate>> = {
  completed: 'completed',
  failed: 'failed',
  interrupted: 'failed',
  inProgress: 'in_progress',
};

export function turnFateOf(status: string): TurnFate {
  return Object.hasOwn(FATES, status) ? (FATES[status] ?? 'unknown') : 'unknown';
}

/** The engine's own sentence, bounded; of an answer of the model's server, the sentence in it. */
export function faultText(message: string | undefined): string {
  const text = message === undefined || message === '' ? 'the engine gives no reason' : message;
  return previewText(sentenceIn(text) ?? text, MESSAGE_CHARS);
}

function sentenceIn(text: string): string | null {
  if (!text.startsWith('{')) return null;
  try {
    const sentence = (JSON.parse(text) as { error?: { message?: unknown } }).error?.message;
    return typeof sentence === 'string' && sentence !== '' ? sentence : null;
  } catch {
    return null;
  }
}

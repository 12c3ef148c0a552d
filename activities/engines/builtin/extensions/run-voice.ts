import { AsyncLocalStorage } from 'node:async_hooks';
import type { BusEventName, EmittedEvent } from '../../../../contract/extensions/bus-event.ts';
import { previewText, type NativeFrame } from '../../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../../contract/platform-frames.ts';

/** Of one step, so many events of extensions are kept: one that answers every delta must not flood the lane. */
const MOST_OF_A_STEP = 200;

/** What an extension may say in a run; what the loop says of itself, no other can say for it. */
const SAYABLE: ReadonlySet<string> = new Set<BusEventName>([
  'dismiss',
  'error',
  'extension-error',
  'info',
  'redraw',
  'reinit-presenter',
  'reset-conversation',
  'set-status-info',
]);

/** What the extensions say while a step of a run is done goes into that run's lane. */
export type Say = (frame: NativeFrame) => void;

const voices = new AsyncLocalStorage<{ readonly say: Say; left: number }>();
const listeners = new AsyncLocalStorage<(event: EmittedEvent) => void>();

/** Does a part of a run's step; what extensions emit meanwhile, and whatever it awaits, is said by `say`. */
export async function withVoice<Result>(say: Say, work: () => Promise<Result>): Promise<Result> {
  return await voices.run({ say, left: MOST_OF_A_STEP }, work);
}

/** Hands what extensions emit meanwhile to who has called them: a presenter shows it. */
export async function withEvents<Result>(
  listen: (event: EmittedEvent) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  return await listeners.run(listen, work);
}

/**
 * Says what an extension emitted in the lane of the run that it emitted it in.
 *
 * **Contract:** outside of a run nothing is kept, nor what only the loop can say, nor the extensions' own events: they are on
 * the bus alone.
 */
export function keepInLane(event: EmittedEvent): void {
  listeners.getStore()?.(event);
  const voice = voices.getStore();
  if (voice === undefined || !SAYABLE.has(event.type) || voice.left < 0) return;
  if (voice.left-- > 0) return voice.say(bounded(event));
  const error = `extensions emitted over ${String(MOST_OF_A_STEP)} events in one step; the rest is not kept`;
  voice.say({ type: 'extension-error', error, event: event.type });
}

/** Texts of an event are previews in a lane. */
function bounded(event: EmittedEvent): NativeFrame {
  const fields = Object.entries(event).map(([field, value]) => [
    field,
    typeof value === 'string' ? previewText(value, PREVIEW_LIMIT_CHARS) : value,
  ]);
  return { ...Object.fromEntries(fields), type: event.type };
}

import type { CanonicalBody } from './canonical.ts';
import { root, say, type Draft } from './lifecycle-draft.ts';
import { boundedText, lifecycleMessage } from './lifecycle-values.ts';
import type { LifecycleData } from './lifecycle.ts';
import { INPUT_INJECTED } from './queued-input.ts';

/** Twice as long with every unit escaped, and the ids beside it: within what details may hold. */
const TEXT_CHARS = 1_900;
const NO_WORDS = 'an input without readable text';

/** A user's input that a run at work has taken: lifecycle v1 has no type for what users say, so it is a warning with its own code. */
export function sayInput(draft: Draft, { inputId, queue, input = '' }: CanonicalBody<'turn.started'>): void {
  if (inputId === undefined || queue === undefined) return;
  const text = boundedText(input, TEXT_CHARS) || NO_WORDS;
  const message = lifecycleMessage(`new input: ${input}`, NO_WORDS);
  const data = { code: INPUT_INJECTED, message, details: { input_id: inputId, queue, text } };
  say(draft, root({ type: 'warning', data }));
}

/** The input that such a warning tells of; null for any other warning. */
export function inputOf({ code, details }: LifecycleData<'warning'>): { inputId: string; text: string } | null {
  const { input_id: inputId, text } = (details ?? {}) as { input_id?: unknown; text?: unknown };
  if (code !== INPUT_INJECTED || typeof inputId !== 'string' || typeof text !== 'string') return null;
  return inputId === '' || text === '' ? null : { inputId, text };
}

import { TABLE_LIMITS, type TextState } from './acp-state.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import type { Scribe, Speaker } from './scribe.ts';

const NOTHING_YET: TextState = { open: null, nativeId: null, head: '', held: '' };
const HEAD_CHARS = 4_096;
/** A text that says the whole of what was shown again, from this length on, is no coincidence. */
const RESTATED_WHOLE_CHARS = 16;
/** The same for a text that restates only the beginning and then goes another way. */
const RESTATED_HEAD_CHARS = 24;

type Kind = 'message' | 'reasoning';

/**
 * Says a piece of text or reasoning.
 *
 * OpenCode retries a failed model call silently and sends the text anew under the id of the message that it had begun: appended,
 * it would stand there twice. Decidable is only a repeat that restates what was shown, so text that does so is held back until it
 * has restated enough (a new message begins, with a warning) or has turned out to be something else (it is appended). A retry
 * that says something new from its first word on cannot be told from a continuation.
 *
 * **Contract:** no text is lost and none is said twice in one message; what is held is said when the block closes.
 */
export function sayChunk(
  scribe: Scribe,
  speaker: Speaker,
  chunk: { readonly kind: Kind; readonly nativeId: string | null; readonly text: string },
): string {
  const { kind, nativeId, text } = chunk;
  if (text === '') return 'a chunk without text';
  const before = textOf(scribe, speaker);
  if (kind === 'reasoning' || nativeId === null || nativeId !== before.nativeId || before.head === '') {
    append(scribe, speaker, chunk);
    return '';
  }
  const restated = before.held + text;
  if (before.head.startsWith(restated) && !isRestated(before.head, restated)) {
    rememberText(scribe, speaker, { ...before, held: restated });
    return 'held back until it is known whether it repeats what was said';
  }
  rememberText(scribe, speaker, { ...before, held: '' });
  sayHeld(scribe, speaker, { nativeId, text: restated, isRestart: isRestart(before, restated) });
  return '';
}

/** Ends what the session is saying: something else comes now. */
export function closeText(scribe: Scribe, speaker: Speaker): void {
  const { held, ...before } = textOf(scribe, speaker);
  if (held !== '' && before.nativeId !== null) {
    rememberText(scribe, speaker, { ...before, held: '' });
    const isRepeat = isRestated(before.head, held) || held.length >= RESTATED_HEAD_CHARS;
    sayHeld(scribe, speaker, { nativeId: before.nativeId, text: held, isRestart: isRepeat });
  }
  closeBlock(scribe, speaker);
}

function isRestated(head: string, restated: string): boolean {
  return restated.length >= RESTATED_WHOLE_CHARS && restated === head;
}

function isRestart({ head, held }: TextState, restated: string): boolean {
  if (isRestated(head, restated)) return true;
  if (head.length >= RESTATED_WHOLE_CHARS && restated.startsWith(head)) return true;
  return held.length >= RESTATED_HEAD_CHARS;
}

function sayHeld(
  scribe: Scribe,
  speaker: Speaker,
  held: { readonly nativeId: string; readonly text: string; readonly isRestart: boolean },
): void {
  if (held.isRestart) {
    closeBlock(scribe, speaker);
    const message = 'the engine began its message anew, probably after a failed call of the model';
    scribe.say(speaker, { kind: 'harness.warning', code: 'message_restarted', message });
    rememberText(scribe, speaker, { ...textOf(scribe, speaker), nativeId: null });
  }
  append(scribe, speaker, { kind: 'message', ...held });
}

function append(
  scribe: Scribe,
  speaker: Speaker,
  { kind, nativeId, text }: { readonly kind: Kind; readonly nativeId: string | null; readonly text: string },
): void {
  const { open: before } = textOf(scribe, speaker);
  if (before !== null && (before.kind !== kind || before.nativeId !== nativeId)) closeText(scribe, speaker);
  const last = textOf(scribe, speaker);
  const open = last.open ?? { kind, id: newId(scribe, kind, nativeId), nativeId };
  scribe.say(withMessage(speaker, nativeId), { kind: `${kind}.delta`, messageId: open.id, text });
  if (kind === 'reasoning') {
    rememberText(scribe, speaker, { ...last, open });
    return;
  }
  const isSameMessage = nativeId !== null && nativeId === last.nativeId;
  const head = ((isSameMessage ? last.head : '') + text).slice(0, HEAD_CHARS);
  rememberText(scribe, speaker, { ...last, open, nativeId, head: nativeId === null ? '' : head });
}

function closeBlock(scribe: Scribe, speaker: Speaker): void {
  const last = textOf(scribe, speaker);
  if (last.open === null) return;
  const { kind, id: messageId, nativeId } = last.open;
  scribe.say(withMessage(speaker, nativeId), { kind: `${kind}.completed`, messageId });
  rememberText(scribe, speaker, { ...last, open: null });
}

/** Unique in the run: the engine's id, counted where it comes again for another block, else the step and a count. */
function newId(scribe: Scribe, kind: Kind, nativeId: string | null): string {
  const { state, context } = scribe;
  if (nativeId === null) {
    const step = context.stepIndex === null ? 'run' : String(context.stepIndex);
    scribe.remember({ unnamedMessages: state.unnamedMessages + 1 });
    return `${context.runId}.${step}.${String(state.unnamedMessages)}`;
  }
  const id = kind === 'reasoning' ? `${nativeId}.thought` : nativeId;
  const uses = (entryOf(state.usedIds, id) ?? 0) + 1;
  scribe.remember({ usedIds: withEntry(state.usedIds, id, uses, TABLE_LIMITS.usedIds) });
  return uses === 1 ? id : `${id}~${String(uses)}`;
}

function withMessage(speaker: Speaker, nativeId: string | null): Speaker {
  return nativeId === null ? speaker : { ...speaker, native: { ...speaker.native, nativeMessageId: nativeId } };
}

function textOf({ state }: Scribe, { child }: Speaker): TextState {
  return entryOf(state.texts, child ?? '') ?? NOTHING_YET;
}

function rememberText(scribe: Scribe, { child }: Speaker, text: TextState): void {
  scribe.remember({ texts: withEntry(scribe.state.texts, child ?? '', text, TABLE_LIMITS.texts) });
}

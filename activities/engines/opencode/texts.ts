import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import type { Part } from './opencode-schema.ts';
import {
  quiet,
  saying,
  TABLE_LIMITS,
  type OpencodeState,
  type Speaker,
  type Step,
  type TextPart,
} from './translation-state.ts';

const CHILD_RESULT_CHARS = 2_000;

/** A piece of a text, whose id is its part's: a message has several texts where tools are used between them. */
export function textDelta(
  state: OpencodeState,
  { partID, messageID, delta }: { partID: string; messageID: string; delta: string },
  speaker: Speaker,
): Step {
  const known = entryOf(state.texts, partID) ?? begun(speaker, 'message');
  if (known.isClosed) return quiet(state, 'late: its text is whole');
  if (delta === '') return quiet(state, 'an empty piece of text');
  const next = withText(state, partID, { ...known, chars: known.chars + delta.length });
  return saying(next, [{ kind: `${known.kind}.delta`, messageId: partID, text: delta }], {
    native: nativeOf(partID, messageID),
  });
}

/** A text as it is now: it begins empty, and is whole when it has an end. */
export function textUpdated(state: OpencodeState, part: Part, speaker: Speaker): Step {
  const known = entryOf(state.texts, part.id) ?? begun(speaker, part.type === 'reasoning' ? 'reasoning' : 'message');
  if (known.isClosed) return quiet(state, 'late: its text is whole');
  if (part.time?.end == null) return quiet(withText(state, part.id, known), 'a text begins with its first piece');
  const next = withLastText(withText(state, part.id, { ...known, isClosed: true }), part, {
    ...speaker,
    kind: known.kind,
  });
  if (known.chars === 0 && part.text === '') return quiet(next, 'a part without text');
  const { kind } = known;
  const rest: CanonicalBody[] = known.chars > 0 ? [] : [{ kind: `${kind}.delta`, messageId: part.id, text: part.text }];
  const completed: CanonicalBody = { kind: `${kind}.completed`, messageId: part.id };
  return saying(next, [...rest, completed], { native: nativeOf(part.id, part.messageID) });
}

/**
 * Closes the texts that a session has open, because its model is asked again or its turn is over.
 *
 * **Contract:** what still comes under their parts is not said: it is what was shown.
 */
export function closeTexts(state: OpencodeState, sessionId: string): { state: OpencodeState; bodies: CanonicalBody[] } {
  const open = state.texts.filter(([, text]) => text.sessionId === sessionId && !text.isClosed);
  const bodies = open
    .filter(([, { chars }]) => chars > 0)
    .map(([messageId, { kind }]): CanonicalBody => ({ kind: `${kind}.completed`, messageId }));
  const texts = open.reduce(
    (table, [id, text]) => withEntry(table, id, { ...text, isClosed: true }, TABLE_LIMITS.texts),
    state.texts,
  );
  return { state: { ...state, texts }, bodies };
}

function begun({ sessionId }: Speaker, kind: TextPart['kind']): TextPart {
  return { sessionId, kind, chars: 0, isClosed: false };
}

function withText(state: OpencodeState, partId: string, text: TextPart): OpencodeState {
  return { ...state, texts: withEntry(state.texts, partId, text, TABLE_LIMITS.texts) };
}

/** The last message of a sub-agent is its result. */
function withLastText(
  state: OpencodeState,
  { text }: Part,
  { sessionId, isChild, kind }: Speaker & { kind: TextPart['kind'] },
): OpencodeState {
  const child = isChild && kind === 'message' && text !== '' ? entryOf(state.children, sessionId) : undefined;
  if (child === undefined) return state;
  const told = { ...child, lastText: previewText(text, CHILD_RESULT_CHARS) };
  return { ...state, children: withEntry(state.children, sessionId, told, TABLE_LIMITS.children) };
}

function nativeOf(nativePartId: string, nativeMessageId: string) {
  return { nativeMessageId, nativePartId };
}

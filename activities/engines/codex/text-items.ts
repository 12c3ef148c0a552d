import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import type { Item } from './codex-schema.ts';
import { lastOf, quiet, saying, type CodexState, type OpenText, type Speaker, type Step } from './translation-state.ts';

const CHILD_RESULT_CHARS = 2_000;
const CUT_OFF_REMEMBERED = 200;

/** Items whose text a reader is shown as the agent's: a proposed plan is a message too. */
export const TEXT_ITEMS: Readonly<Record<string, OpenText['kind']>> = {
  agentMessage: 'message',
  plan: 'message',
  reasoning: 'reasoning',
};

/** A piece of the text of an item. `source` and `part` tell the pieces of reasoning apart. */
export function textDelta(
  state: CodexState,
  piece: { itemId: string; text: string; kind: OpenText['kind']; source: string; part: number },
  speaker: Speaker,
): Step {
  const key = keyOf(piece.itemId);
  const open = state.texts[key] ?? opened(state, piece, speaker);
  if (open.chars > 0 && open.source !== piece.source) return quiet(state, 'the same thought in other words');
  if (piece.text === '') return quiet(state, 'an empty piece of text');
  const gap = piece.part > open.part && open.chars > 0 ? '\n\n' : '';
  const text = `${gap}${piece.text}`;
  const next = { ...open, source: piece.source, part: piece.part, chars: open.chars + text.length };
  const { messageId } = open;
  const body: CanonicalBody =
    open.kind === 'message' ? { kind: 'message.delta', messageId, text } : { kind: 'reasoning.delta', messageId, text };
  return saying({ ...state, texts: { ...state.texts, [key]: next } }, [body]);
}

/** A text begins: said with its first piece, since an empty one comes before each message. */
export function textStarted(state: CodexState, item: Item, speaker: Speaker): Step {
  const kind = TEXT_ITEMS[item.type] ?? 'message';
  const open = opened(state, { itemId: item.id, kind, source: '', part: 0 }, speaker);
  return quiet({ ...state, texts: { ...state.texts, [keyOf(item.id)]: open } }, 'a text begins with its first piece');
}

/** A text is whole: what no piece had said is said now, and nothing is where there is no text. */
export function textCompleted(state: CodexState, item: Item, speaker: Speaker): Step {
  const kind = TEXT_ITEMS[item.type] ?? 'message';
  const key = keyOf(item.id);
  const whole = item.type === 'reasoning' ? reasoningOf(item) : item.text;
  const open = state.texts[key] ?? opened(state, { itemId: item.id, kind, source: '', part: 0 }, speaker);
  const { [key]: _closed, ...texts } = state.texts;
  const next = { ...state, texts, children: withLastText(state, kind, whole, speaker) };
  if (open.chars === 0 && whole === '') return quiet(next, 'an item without text');
  const { messageId } = open;
  const rest: CanonicalBody[] = open.chars > 0 ? [] : [{ kind: `${kind}.delta`, messageId, text: whole }];
  return saying(next, [...rest, { kind: `${kind}.completed`, messageId }]);
}

/**
 * Closes what a thread has open, because its model is asked again or its turn is over.
 *
 * **Contract:** text that comes under the same item afterwards gets another message id: it is never appended to what was shown.
 */
export function cutOffTexts(state: CodexState, threadId: string): { state: CodexState; bodies: CanonicalBody[] } {
  const entries = Object.entries(state.texts);
  const cut = entries.filter(([, open]) => open.threadId === threadId);
  const bodies = cut
    .filter(([, { chars }]) => chars > 0)
    .map(([, { kind, messageId }]): CanonicalBody => ({ kind: `${kind}.completed`, messageId }));
  const texts = Object.fromEntries(entries.filter(([, open]) => open.threadId !== threadId));
  const shown = cut.filter(([, { chars }]) => chars > 0).map(([key]) => key);
  const cutOff = lastOf([...new Set([...state.cutOff, ...shown])], CUT_OFF_REMEMBERED);
  return { state: { ...state, texts, cutOff, retries: state.retries + 1 }, bodies };
}

function opened(
  state: CodexState,
  text: { itemId: string; kind: OpenText['kind']; source: string; part: number },
  { threadId }: Speaker,
): OpenText {
  const { itemId, kind, source, part } = text;
  const messageId = state.cutOff.includes(keyOf(itemId)) ? `${itemId}.retry-${String(state.retries)}` : itemId;
  return { threadId, messageId, kind, source, part, chars: 0 };
}

function reasoningOf(item: Item): string {
  const raw = item.content.filter((part) => typeof part === 'string');
  return (item.summary.length > 0 ? item.summary : raw).join('\n\n');
}

function withLastText(state: CodexState, kind: OpenText['kind'], text: string, { threadId, isChild }: Speaker) {
  if (!isChild || kind !== 'message' || text === '') return state.children;
  return { ...state.children, [keyOf(threadId)]: { lastText: previewText(text, CHILD_RESULT_CHARS) } };
}

/** Ids come from outside: no record is keyed by a bare one. */
export function keyOf(id: string): string {
  return `#${id}`;
}

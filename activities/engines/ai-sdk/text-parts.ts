import { textEnded, textGrown, textsEnded, type TextKind } from '../hosted/open-texts.ts';
import { Block, Delta } from './parts.ts';
import { saying, unknown, type AiSdkState, type Change, type Step } from './translation-state.ts';

/** A text begins with its first piece; one that was left open under its id is over. */
export function textStarted(state: AiSdkState, part: unknown, kind: TextKind): Step {
  return ended(state, part, { kind, why: 'a text begins with its first piece' });
}

export function textPiece(state: AiSdkState, part: unknown, { kind, runId }: { kind: TextKind; runId: string }): Step {
  const delta = Delta.safeParse(part).data;
  if (delta === undefined) return unknown(state);
  const { id, text } = delta;
  const { texts, bodies } = textGrown(state.texts, { key: keyOf(kind, id), kind, text, runId });
  return saying({ ...state, texts }, bodies, 'an empty piece of text');
}

export function textFinished(state: AiSdkState, part: unknown, kind: TextKind): Step {
  return ended(state, part, { kind, why: 'a text without a piece' });
}

/** Ends every text that is open: its model call is over. */
export function textsOver(state: AiSdkState): Change {
  const { texts, ended: over } = textsEnded(state.texts);
  return { state: { ...state, texts }, bodies: over.map(({ body }) => body) };
}

function ended(state: AiSdkState, part: unknown, { kind, why }: { kind: TextKind; why: string }): Step {
  const block = Block.safeParse(part).data;
  if (block === undefined) return unknown(state);
  const { texts, bodies } = textEnded(state.texts, keyOf(kind, block.id));
  return saying({ ...state, texts }, bodies, why);
}

/** Reasoning and text may have one id. */
function keyOf(kind: TextKind, id: string): string {
  return `${kind}:${id}`;
}

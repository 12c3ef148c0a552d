import type { CanonicalBody } from '../../../contract/canonical.ts';
import { entryOf, withEntry, withoutEntry } from '../acp/bounded-table.ts';
import { Block, Delta } from './parts.ts';
import {
  quiet,
  saying,
  TABLE_LIMITS,
  unknown,
  type AiSdkState,
  type OpenText,
  type Step,
} from './translation-state.ts';

interface Writing {
  readonly kind: OpenText['kind'];
  readonly runId: string;
}

/** A block begins, under an id of its own: the library's `txt-0` is the first block of every model call. */
export function textStarted(state: AiSdkState, part: unknown, writing: Writing): Step {
  const block = Block.safeParse(part).data;
  if (block === undefined) return unknown(state);
  const { state: next, bodies } = ended(state, keyOf(writing, block.id));
  return saying(opened(next, block.id, writing).state, bodies, 'a text begins with its first piece');
}

export function textGrown(state: AiSdkState, part: unknown, writing: Writing): Step {
  const delta = Delta.safeParse(part).data;
  if (delta === undefined) return unknown(state);
  const { id, text } = delta;
  if (text === '') return quiet(state, 'an empty piece of text');
  const key = keyOf(writing, id);
  const known = entryOf(state.texts, key);
  const { state: begun, open } = known === undefined ? opened(state, id, writing) : { state, open: known };
  const { kind, messageId } = open;
  const texts = withEntry(begun.texts, key, { ...open, hasText: true }, TABLE_LIMITS.texts);
  return saying({ ...begun, texts }, [{ kind: `${kind}.delta`, messageId, text }]);
}

export function textEnded(state: AiSdkState, part: unknown, writing: Writing): Step {
  const block = Block.safeParse(part).data;
  if (block === undefined) return unknown(state);
  const { state: next, bodies } = ended(state, keyOf(writing, block.id));
  return saying(next, bodies, 'a text without a piece');
}

/** Ends every block that is open: its model call is over. */
export function textsEnded(state: AiSdkState): { state: AiSdkState; bodies: CanonicalBody[] } {
  return { state: { ...state, texts: [] }, bodies: state.texts.flatMap(([, open]) => endingOf(open)) };
}

function opened(state: AiSdkState, id: string, writing: Writing): { state: AiSdkState; open: OpenText } {
  const { kind, runId } = writing;
  const open: OpenText = { messageId: `${runId}.${String(state.blocks)}`, kind, hasText: false };
  const texts = withEntry(state.texts, keyOf(writing, id), open, TABLE_LIMITS.texts);
  return { state: { ...state, blocks: state.blocks + 1, texts }, open };
}

function ended(state: AiSdkState, key: string): { state: AiSdkState; bodies: CanonicalBody[] } {
  const open = entryOf(state.texts, key);
  if (open === undefined) return { state, bodies: [] };
  return { state: { ...state, texts: withoutEntry(state.texts, key) }, bodies: endingOf(open) };
}

function endingOf({ hasText, kind, messageId }: OpenText): CanonicalBody[] {
  return hasText ? [{ kind: `${kind}.completed`, messageId }] : [];
}

function keyOf({ kind }: Writing, id: string): string {
  return `${kind}:${id}`;
}

import type { CanonicalBody } from '../../../contract/canonical.ts';
import { entryOf, withEntry, withoutEntry, type BoundedTable } from '../bounded-table.ts';

const OPEN_LIMIT = 100;

/** Messages and reasoning that an agent has begun and not ended: plain JSON. */
export interface OpenTexts {
  /** How many there were. The ids of agent libraries come again; a text's own is its place in the run. */
  readonly blocks: number;
  readonly open: BoundedTable<OpenText>;
}

interface OpenText {
  readonly messageId: string;
  readonly kind: TextKind;
  /** The sub-agent that says it. */
  readonly speaker: string | null;
}

export type TextKind = 'message' | 'reasoning';
export const NO_TEXTS: OpenTexts = { blocks: 0, open: [] };

export interface Piece {
  /** What tells the text from the others that are open. */
  readonly key: string;
  readonly kind: TextKind;
  readonly text: string;
  readonly runId: string;
  readonly speaker?: string;
}

/** A text grows by a piece; the first one begins it. An empty piece says nothing. */
export function textGrown(texts: OpenTexts, piece: Piece): { texts: OpenTexts; bodies: CanonicalBody[] } {
  const { key, kind, text, runId, speaker = null } = piece;
  if (text === '') return { texts, bodies: [] };
  const known = entryOf(texts.open, key);
  const { messageId } = known ?? { messageId: `${runId}.${String(texts.blocks)}` };
  const open = known === undefined ? withEntry(texts.open, key, { messageId, kind, speaker }, OPEN_LIMIT) : texts.open;
  const blocks = known === undefined ? texts.blocks + 1 : texts.blocks;
  return { texts: { blocks, open }, bodies: [{ kind: `${kind}.delta`, messageId, text }] };
}

export function textEnded(texts: OpenTexts, key: string): { texts: OpenTexts; bodies: CanonicalBody[] } {
  const open = entryOf(texts.open, key);
  if (open === undefined) return { texts, bodies: [] };
  return { texts: { ...texts, open: withoutEntry(texts.open, key) }, bodies: [endOf(open)] };
}

/** Ends every text that is open, each as its speaker's; or those of one speaker. */
export function textsEnded(
  texts: OpenTexts,
  speaker?: string,
): {
  texts: OpenTexts;
  ended: { speaker: string | null; body: CanonicalBody }[];
} {
  const isOver = (open: OpenText) => speaker === undefined || open.speaker === speaker;
  const over = texts.open.filter(([, open]) => isOver(open));
  const ended = over.map(([, open]) => ({ speaker: open.speaker, body: endOf(open) }));
  return { texts: { ...texts, open: texts.open.filter(([, open]) => !isOver(open)) }, ended };
}

function endOf({ kind, messageId }: OpenText): CanonicalBody {
  return { kind: `${kind}.completed`, messageId };
}

import { root, markUsed, markWithdrawn, nextId, say, type Draft } from './lifecycle-draft.ts';
import type { ProjectedBlock, Shown } from './lifecycle-projection-state.ts';
import { without } from './lifecycle-state.ts';
import { EMPTY_TEXT, extendHash, isSameText } from './lifecycle-text-hash.ts';
import { deltasOf } from './lifecycle-values.ts';
import { cleanText } from './sanitize.ts';

/** Text and reasoning, from `message.*` and `reasoning.*`. */
type Family = ProjectedBlock['family'];

const NOTHING_SHOWN: Shown = { chars: 0, hash: EMPTY_TEXT };

/** Opens the block if it is not open; null where a limit of lifecycle v1 is reached. */
export function openBlock(
  draft: Draft,
  { family, messageId, namespace }: { family: Family; messageId: string; namespace: readonly string[] },
): string | null {
  const key = keyOf(family, messageId);
  if (draft.state.blocks[key] !== undefined) return key;
  const suspended = draft.state.suspended[key];
  if (!begin(draft, { family, messageId, namespace }, suspended ?? null)) return null;
  draft.state = { ...draft.state, suspended: without(draft.state.suspended, key) };
  return key;
}

/**
 * Whether there is nothing to show: a pause closed the block and no text is new, or its sub-agent has left. The block is forgotten
 * when it has ended.
 */
export function isSilent(
  draft: Draft,
  {
    family,
    messageId,
    saysText,
    hasEnded,
  }: { family: Family; messageId: string; saysText: boolean; hasEnded: boolean },
): boolean {
  const key = keyOf(family, messageId);
  const { suspended, orphans } = draft.state;
  if (orphans[key] === undefined && (saysText || suspended[key] === undefined)) return false;
  if (hasEnded) draft.state = { ...draft.state, suspended: without(suspended, key), orphans: without(orphans, key) };
  return true;
}

function begin(
  draft: Draft,
  { family, messageId, namespace }: { family: Family; messageId: string; namespace: readonly string[] },
  goesOn: Shown | null,
): boolean {
  const key = keyOf(family, messageId);
  const { id, turn } = nextId(draft, key, messageId, goesOn !== null);
  const said =
    family === 'text'
      ? say(draft, { namespace, body: { type: 'text.started', data: { message_id: id, role: 'assistant' } } })
      : say(draft, { namespace, body: { type: 'reasoning.started', data: { message_id: id } } });
  if (!said) return false;
  markUsed(draft, key, turn);
  put(draft, key, { ...(goesOn ?? NOTHING_SHOWN), family, id, namespace, carry: '' });
  return true;
}

/** Shows more of an open block. Half a surrogate pair waits for the other half. */
export function showText(draft: Draft, key: string, text: string): void {
  const block = draft.state.blocks[key];
  if (block === undefined) return;
  const raw = block.carry + text;
  const last = raw.charCodeAt(raw.length - 1);
  const carry = last >= 0xd800 && last < 0xdc00 ? raw.slice(-1) : '';
  const chars = block.chars + text.length;
  put(draft, key, { ...block, chars, hash: extendHash(block.hash, text), carry });
  sayText(draft, block, carry === '' ? raw : raw.slice(0, -1));
}

function sayText(draft: Draft, { family, id, namespace }: ProjectedBlock, text: string): void {
  for (const delta of deltasOf(cleanText(text))) {
    say(draft, { namespace, body: { type: `${family}.delta`, data: { message_id: id, delta } } });
  }
}

export function closeBlock(draft: Draft, key: string): void {
  const block = draft.state.blocks[key];
  if (block === undefined) return;
  sayText(draft, block, block.carry);
  const { family, id, namespace } = block;
  say(draft, { namespace, body: { type: `${family}.finished`, data: { message_id: id } } });
  draft.state = { ...draft.state, blocks: without(draft.state.blocks, key) };
}

/**
 * Ends a message whose whole text is known. The rest of it is shown if it goes on from what was shown; where it does not, the
 * message is said again under a new id, since a stream cannot take back what it said.
 */
export function completeText(draft: Draft, key: string, messageId: string, text: string): void {
  const block = draft.state.blocks[key];
  if (block === undefined) return;
  const isContinued =
    text.length >= block.chars && isSameText(extendHash(EMPTY_TEXT, text.slice(0, block.chars)), block.hash);
  if (isContinued) {
    showText(draft, key, text.slice(block.chars));
  } else {
    closeBlock(draft, key);
    const message = 'the message before this one was replaced by its final text, which follows';
    say(draft, root({ type: 'warning', data: { code: 'message_replaced', message } }));
    if (!begin(draft, { ...block, messageId }, null)) return;
    showText(draft, key, text);
  }
  closeBlock(draft, key);
}

/** The log takes back what it said of a message: it is closed here, and said again under a new id if it is said again. */
export function withdrawBlock(draft: Draft, family: Family, messageId: string): void {
  const key = keyOf(family, messageId);
  closeBlock(draft, key);
  const { suspended, orphans } = draft.state;
  draft.state = { ...draft.state, suspended: without(suspended, key), orphans: without(orphans, key) };
  markWithdrawn(draft, key);
}

/** Closes every block for a pause. */
export function suspendBlocks(draft: Draft): void {
  const suspended = { ...draft.state.suspended, ...draft.state.blocks };
  closeBlocks(draft);
  draft.state = {
    ...draft.state,
    suspended: Object.fromEntries(Object.entries(suspended).map(([key, { chars, hash }]) => [key, { chars, hash }])),
  };
}

export function closeBlocks(draft: Draft): void {
  for (const key of Object.keys(draft.state.blocks)) closeBlock(draft, key);
}

/** Closes what a sub-agent that leaves has not ended. */
export function orphanBlocks(draft: Draft, isOfChild: (block: ProjectedBlock) => boolean): void {
  for (const [key, block] of Object.entries(draft.state.blocks)) {
    if (!isOfChild(block)) continue;
    closeBlock(draft, key);
    draft.state = { ...draft.state, orphans: { ...draft.state.orphans, [key]: true } };
  }
}

function keyOf(family: Family, messageId: string): string {
  return `${family}:${messageId}`;
}

function put(draft: Draft, key: string, block: ProjectedBlock): void {
  draft.state = { ...draft.state, blocks: { ...draft.state.blocks, [key]: block } };
}

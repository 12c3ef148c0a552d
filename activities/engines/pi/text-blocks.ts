import type { CanonicalBody } from '../../../contract/canonical.ts';
import { quiet, saying, type Block, type PiState, type Step } from './translation-state.ts';

/** A message of the model begins: what comes in it has ids of its own, also where it says again what a broken one had said. */
export function messageBegun(state: PiState): Step {
  const { state: closed, bodies } = closeBlocks(state);
  const next = { ...closed, messages: state.messages + 1, blocks: {}, calls: [] };
  return saying(next, bodies, 'a message begins with its first piece');
}

/** A block begins, so the one before it has ended: pi says its end only when the whole message is there. */
export function blockBegun(state: PiState, index: number, kind: Block['kind']): Step {
  const { state: closed, bodies } = closeBlocks(state);
  const blocks = { ...closed.blocks, [String(index)]: newBlock(state, index, kind) };
  return saying({ ...closed, blocks }, bodies, 'a text begins with its first piece');
}

export function textDelta(state: PiState, piece: { index: number; kind: Block['kind']; text: string }): Step {
  const { index, kind, text } = piece;
  if (text === '') return quiet(state, 'an empty piece of text');
  const block = goneOnWith(state.blocks[String(index)] ?? newBlock(state, index, kind));
  const { messageId } = block;
  const body: CanonicalBody =
    block.kind === 'message'
      ? { kind: 'message.delta', messageId, text }
      : { kind: 'reasoning.delta', messageId, text };
  const blocks = { ...state.blocks, [String(index)]: { ...block, stage: 'shown' as const } };
  return saying({ ...state, blocks }, [body]);
}

export function blockEnded(state: PiState, index: number): Step {
  const block = state.blocks[String(index)];
  if (block === undefined) return quiet(state, 'a text without a piece');
  const { state: closed, bodies } = closeBlocks(state, String(index));
  return saying(closed, bodies, 'a text that has ended, or never began');
}

/** Closes what is open of the message at hand; of one block, where `only` names it. */
export function closeBlocks(state: PiState, only?: string): { state: PiState; bodies: CanonicalBody[] } {
  const open = Object.entries(state.blocks).filter(([key, { stage }]) => {
    return stage !== 'ended' && (only === undefined || key === only);
  });
  const bodies = open
    .filter(([, { stage }]) => stage === 'shown')
    .map(([, { kind, messageId }]): CanonicalBody => ({ kind: `${kind}.completed`, messageId }));
  const ended = open.map(([key, block]) => [key, { ...block, stage: 'ended' as const }] as const);
  return { state: { ...state, blocks: { ...state.blocks, ...Object.fromEntries(ended) } }, bodies };
}

function newBlock({ messages }: PiState, index: number, kind: Block['kind']): Block {
  return { kind, messageId: `message-${String(messages)}.${String(index)}`, stage: 'begun', sequels: 0 };
}

/** What comes to a block whose end was said is a text of its own: nothing is appended to what is over. */
function goneOnWith(block: Block): Block {
  if (block.stage !== 'ended') return block;
  const sequels = block.sequels + 1;
  const [messageId = ''] = block.messageId.split('+');
  return { ...block, sequels, messageId: `${messageId}+${String(sequels)}` };
}

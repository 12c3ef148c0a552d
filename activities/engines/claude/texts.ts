import type { CanonicalBody } from '../../../contract/canonical.ts';
import {
  keyOf,
  NOTHING_USED,
  withEntry,
  type ClaudeState,
  type ModelAnswer,
  type Saying,
  type Speaker,
  type TextBlock,
  type Used,
} from './translation-state.ts';

type Kind = TextBlock['kind'];
const NAME: Readonly<Record<Kind, string>> = { message: '', reasoning: '.thought' };

/** The model begins to answer a speaker: what of its answer before is still open was cut off. */
export function answerStarted(state: ClaudeState, messageId: string, prompt: Used, speaker: Speaker): Saying {
  const ended = answerEnded(state, speaker);
  const before = answerOf(ended.state, speaker);
  if (before?.messageId === messageId) {
    return { state: withAnswer(ended.state, speaker, { ...before, prompt }), bodies: ended.bodies };
  }
  return { state: withAnswer(ended.state, speaker, { messageId, blocks: [], prompt }), bodies: ended.bodies };
}

/** A block begins: said with its first piece, since some stay empty. */
export function blockStarted(state: ClaudeState, index: number, kind: Kind, speaker: Speaker): Saying {
  const answer = answerOf(state, speaker);
  return answer === null
    ? { state, bodies: [] }
    : { state: withAnswer(state, speaker, opened(answer, kind, index)), bodies: [] };
}

/** A piece of a block; null where no answer has begun. */
export function blockPiece(
  state: ClaudeState,
  piece: { readonly index: number; readonly kind: Kind; readonly text: string },
  speaker: Speaker,
): Saying | null {
  const begun = answerOf(state, speaker);
  if (begun === null) return null;
  const { index, kind, text } = piece;
  const isIt = (block: TextBlock): boolean => block.index === index && block.kind === kind && block.isOpen;
  const answer = begun.blocks.some(isIt) ? begun : opened(begun, kind, index);
  const block = answer.blocks.find(isIt);
  if (block === undefined || text === '') return { state, bodies: [] };
  const grown = replaced(answer, block, { ...block, chars: block.chars + text.length });
  return {
    state: spoken(withAnswer(state, speaker, grown), kind, speaker),
    bodies: [{ kind: `${kind}.delta`, messageId: block.id, text }],
  };
}

/** A block ends, which may be told whole before or after it. */
export function blockEnded(state: ClaudeState, index: number, speaker: Speaker): Saying {
  const answer = answerOf(state, speaker);
  const block = answer?.blocks.find((each) => each.index === index && each.isOpen);
  if (answer === null || block === undefined) return { state, bodies: [] };
  return {
    state: withAnswer(state, speaker, replaced(answer, block, { ...block, isOpen: false })),
    bodies: endOf(block),
  };
}

/** A block that is told whole: what no piece of it had said is said now, and its end where nothing had. */
export function blockWhole(
  state: ClaudeState,
  whole: { readonly messageId: string; readonly kind: Kind; readonly text: string },
  speaker: Speaker,
): Saying {
  const { messageId, kind, text } = whole;
  const begun = answerOf(state, speaker);
  const isNew = begun?.messageId !== messageId;
  const started = isNew ? answerStarted(state, messageId, NOTHING_USED, speaker) : { state, bodies: [] };
  const answer = isNew || begun === null ? { messageId, blocks: [], prompt: NOTHING_USED } : begun;
  const isIt = (block: TextBlock): boolean => block.kind === kind && !block.isWhole;
  const known = answer.blocks.some(isIt) ? answer : opened(answer, kind, null);
  const block = known.blocks.find(isIt);
  if (block === undefined) return started;
  const chars = Math.max(block.chars, text.length);
  const next = withAnswer(
    started.state,
    speaker,
    replaced(known, block, { ...block, chars, isOpen: false, isWhole: true }),
  );
  return {
    state: text === '' ? next : spoken(next, kind, speaker),
    bodies: [...started.bodies, ...restOf(block, text)],
  };
}

/** What a block that is told whole has not said yet. */
function restOf(block: TextBlock, text: string): CanonicalBody[] {
  const { id: messageId, kind, chars, isOpen } = block;
  if (chars > 0) return isOpen ? endOf(block) : [];
  if (text === '') return [];
  return [
    { kind: `${kind}.delta`, messageId, text },
    { kind: `${kind}.completed`, messageId },
  ];
}

/** The answer is over: what is open of it is closed. */
export function answerEnded(state: ClaudeState, speaker: Speaker): Saying {
  const answer = answerOf(state, speaker);
  if (answer === null) return { state, bodies: [] };
  const bodies = answer.blocks.filter(({ isOpen }) => isOpen).flatMap(endOf);
  const blocks = answer.blocks.map((block) => ({ ...block, isOpen: false }));
  return { state: withAnswer(state, speaker, { ...answer, blocks }), bodies };
}

export function answerOf(state: ClaudeState, { childId }: Speaker): ModelAnswer | null {
  return state.answers[keyOf(childId ?? '')] ?? null;
}

export function withAnswer(state: ClaudeState, { childId }: Speaker, answer: ModelAnswer): ClaudeState {
  return { ...state, answers: withEntry(state.answers, childId ?? '', answer) };
}

/** The first block of a kind has the answer's own id; each one after it another. */
function opened(answer: ModelAnswer, kind: Kind, index: number | null): ModelAnswer {
  const before = answer.blocks.filter((block) => block.kind === kind).length;
  const id = `${answer.messageId}${NAME[kind]}${before === 0 ? '' : `~${String(before + 1)}`}`;
  const block: TextBlock = { index, kind, id, chars: 0, isOpen: true, isWhole: false };
  return { ...answer, blocks: [...answer.blocks, block] };
}

function replaced(answer: ModelAnswer, block: TextBlock, by: TextBlock): ModelAnswer {
  return { ...answer, blocks: answer.blocks.map((each) => (each === block ? by : each)) };
}

function endOf({ kind, id, chars }: TextBlock): CanonicalBody[] {
  return chars === 0 ? [] : [{ kind: `${kind}.completed`, messageId: id }];
}

function spoken(state: ClaudeState, kind: Kind, { childId }: Speaker): ClaudeState {
  return kind === 'message' && childId === null ? { ...state, hasText: true } : state;
}

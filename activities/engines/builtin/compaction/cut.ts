import type { Message } from '../../../../contract/agent-messages.ts';
import { tokensOfMessage } from './context-tokens.ts';

/** Fewer are not worth a summary (source facts C.8). */
const MIN_SUMMARIZED = 3;

export interface CutWish {
  /** Whether the first message is a summary already: it is summarised again, but does not count for what is recent. */
  readonly beginsWithSummary: boolean;
  /** So much of what is recent is kept, about. */
  readonly keepTokens: number;
  /** A turn that is longer than this is cut inside, before an answer of the model; not given: it is kept whole. */
  readonly turnTokens?: number;
}

/**
 * Where a conversation is cut: the index of the first message that is kept; null when there is too little before it.
 *
 * **Contract:** at least three messages are before the cut. It is before a user's message, or, in a turn that is too long, before an
 * answer of the model; never between a tool call and its result. A conversation that was just cut is not cut again.
 */
export function cutOf(messages: readonly Message[], wish: CutWish): number | null {
  const { beginsWithSummary, keepTokens, turnTokens = Infinity } = wish;
  const after = suffixTokens(messages);
  const tokensFrom = (index: number): number => after[index] ?? 0;
  if (tokensFrom(beginsWithSummary ? 1 : 0) <= keepTokens) return null;
  const whole = wholeCuts(messages);
  const turns = whole.filter((index) => messages[index]?.role === 'user');
  const turn = turns.find((index) => tokensFrom(index) <= keepTokens) ?? turns.at(-1);
  const begin = turn ?? messages.findLastIndex(({ role }) => role === 'user');
  if (tokensFrom(begin) <= Math.max(keepTokens, turnTokens)) return turn ?? null;
  const answers = whole.filter((index) => index > begin && messages[index]?.role === 'assistant');
  return answers.find((index) => tokensFrom(index) <= keepTokens) ?? answers.at(-1) ?? turn ?? null;
}

/** The places with enough before them that part no result from its call. */
function wholeCuts(messages: readonly Message[]): number[] {
  const lastResult = new Map<string, number>();
  messages.forEach((message, index) => {
    if (message.role === 'tool-result') lastResult.set(message.toolCallId, index);
  });
  const cuts: number[] = [];
  let answeredAt = -1;
  messages.forEach((message, index) => {
    if (index >= MIN_SUMMARIZED && index > answeredAt) cuts.push(index);
    if (message.role !== 'assistant') return;
    for (const block of message.content) {
      if (block.type === 'tool-call') answeredAt = Math.max(answeredAt, lastResult.get(block.id) ?? -1);
    }
  });
  return cuts;
}

/** For each index, the tokens of the messages from there on. */
function suffixTokens(messages: readonly Message[]): number[] {
  const sums = Array.from(messages, () => 0);
  let sum = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message !== undefined) sum += tokensOfMessage(message);
    sums[index] = sum;
  }
  return sums;
}

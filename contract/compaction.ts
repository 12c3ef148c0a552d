import type { UserMessage } from './agent-messages.ts';

/** Why a conversation was compacted: a person wished it, or the next model call would not have fitted. */
export type CompactionTrigger = 'manual' | 'automatic';

const HEADING = 'The conversation before this point was summarised, to keep it within the context. The summary:';

/** The message that a model sees in place of those that were summarised. */
export function summaryMessage(summary: string, timestamp: number): UserMessage {
  return { role: 'user', content: `${HEADING}\n\n<summary>\n${summary}\n</summary>`, timestamp };
}

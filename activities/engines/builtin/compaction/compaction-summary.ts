import { previewText } from '../../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../../contract/platform-frames.ts';
import type { Compaction } from '../../../../infra/postgres/compaction.ts';
import type { SurfaceEvent } from '../bus-events.ts';

export type CompactionSummary = Extract<SurfaceEvent, { type: 'compaction-summary' }>;

type Made = Pick<
  Compaction,
  'summary' | 'trigger' | 'guidance' | 'tokensBefore' | 'tokensAfter' | 'messagesSummarized' | 'messagesKept'
>;

/** The bus event that a conversation was compacted (extension contracts, `compaction-summary`); a long summary is a preview. */
export function compactionSummary(made: Made): CompactionSummary {
  const { trigger, tokensBefore, tokensAfter, messagesSummarized, messagesKept, guidance } = made;
  return {
    type: 'compaction-summary',
    summary: previewText(made.summary, PREVIEW_LIMIT_CHARS),
    trigger,
    tokensBefore,
    tokensAfter,
    messagesSummarized,
    messagesKept,
    ...(guidance === null ? {} : { guidance: previewText(guidance, PREVIEW_LIMIT_CHARS) }),
  };
}

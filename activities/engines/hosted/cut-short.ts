import type { CanonicalBody } from '../../../contract/canonical.ts';

const CUT = 'the model reached the limit of its answer';
const WITHHELD = "the model's provider withheld a part of the answer";

/** Reasons for which a model stops that a reader is told of, by what libraries and providers call them. */
const REASONS: Readonly<Record<string, string>> = {
  length: CUT,
  max_tokens: CUT,
  'content-filter': WITHHELD,
  content_filter: WITHHELD,
};

/** What is said of an answer that is not what it would have been; nothing of one that is whole. */
export function cutShort(reason: string, rawEventType: string): CanonicalBody[] {
  const message = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
  return message === undefined ? [] : [{ kind: 'harness.warning', message, rawEventType, code: 'answer_cut_short' }];
}

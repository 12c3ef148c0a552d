import type { Usage } from '../../../../contract/agent-messages.ts';
import type { Outcome } from './conclude.ts';
import type { ProviderEvent } from './provider.ts';

/**
 * Reads one answer in one API's words.
 *
 * **Contract:** total over any JSON object: a field that is missing, null or of another type says nothing, an event that is
 * not known neither. Throws `TypeError` for what is no object, and `ReportedFault` for the provider's own report of one.
 */
export interface AnswerReader {
  /** Takes in one event of the stream. */
  read(event: unknown): ProviderEvent[];
  /** Takes in an answer that came whole. */
  readWhole(body: unknown): ProviderEvent[];
  readonly usage: Usage | undefined;
  /** `finished`: the answer is whole, its usage may still come; `ended`: nothing comes after this. */
  readonly progress: 'open' | 'finished' | 'ended';
  /** How the provider said that the answer ended; null while it has not said so. */
  readonly outcome: Outcome | null;
}

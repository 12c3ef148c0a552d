import type { Decision } from '../../../contract/decision.ts';

/** What a line of the person's came to. */
export type Reply =
  | { readonly decision: Decision }
  /** It stays open; it was not for now. */
  | { readonly later: true }
  /** Ask on, after saying this. */
  | { readonly say: string | null };

/** A talk with a person about one interrupt. Pure: lines in, a decision out. */
export interface Dialog {
  /** What is asked, in lines. */
  intro(): readonly string[];
  /** What invites the next line. */
  prompt(): string;
  /** A text for the next line that the person may edit; null for none. */
  draft(): string | null;
  take(line: string): Reply;
}

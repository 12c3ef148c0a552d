/** What says nothing that a reader of a run is to see, and why. */
const REASONS: Readonly<Record<string, string>> = {
  turn_start: 'a model call, not the turn of the run',
  turn_end: 'a model call, not the turn of the run',
  agent_end: 'the platform says that the turn ended',
  agent_settled: 'the platform says that the turn ended',
  auto_retry_end: 'the next message says how it went, or the run ends with it',
  compaction_start: 'its end says it',
  summarization_retry_attempt_start: 'the retry was said',
  summarization_retry_finished: 'the retry was said',
  entry_appended: 'bookkeeping of the session',
  extension_ui_response: 'the platform says what was answered',
  malformed: 'the run ends with it',
};

/** Why a message is not said; null for one that is, or that nobody knows. */
export function whyQuiet(type: string): string | null {
  return Object.hasOwn(REASONS, type) ? (REASONS[type] ?? null) : null;
}

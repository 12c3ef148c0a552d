import type { Message } from './agent-messages.ts';
import type { CompactionEntry, SessionEntry } from './session-entry.ts';

/**
 * The conversation that a session's entries stand for: what the model sees.
 *
 * **Contract:** with a compaction, its summary as a user's message and the messages from the first kept one; the newest
 * compaction counts, and one that names no entry before it is as if it were not there.
 */
export function historyOf(entries: readonly SessionEntry[]): Message[] {
  const at = entries.findLastIndex((entry) => entry.type === 'compaction');
  const compaction = entries[at];
  if (compaction?.type !== 'compaction') return messagesOf(entries);
  const firstKept = entries.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  if (firstKept === -1 || firstKept > at) return messagesOf(entries);
  return [summaryOf(compaction), ...messagesOf(entries.slice(firstKept))];
}

function messagesOf(entries: readonly SessionEntry[]): Message[] {
  return entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
}

function summaryOf({ summary, timestamp }: CompactionEntry): Message {
  const at = Date.parse(timestamp);
  const content = `What was said before this, in short:\n\n${summary}`;
  return { role: 'user', content, timestamp: Number.isNaN(at) || at < 0 ? 0 : at };
}

import type { Message } from './agent-messages.ts';
import { examineSession, type NumberedLine, type SessionIssueCode } from './session-doctor.ts';
import type { SessionEntry } from './session-entry.ts';
import { historyOf } from './session-history.ts';
import { turnsOfHistory, type SessionTurn } from './session-turns.ts';

/** A session file that becomes a thread, at most. */
export const IMPORT_LIMIT_BYTES = 16 * 1024 * 1024;
export const IMPORT_LIMIT_MESSAGES = 10_000;

/** Without these a conversation cannot be gone on with as it was; a missing result, or an answer that failed, can. */
const FATAL: ReadonlySet<SessionIssueCode> = new Set([
  'malformed_json',
  'orphaned_header',
  'duplicate_tool_call',
  'orphan_tool_result',
]);

export interface ImportProblem {
  /** Counted from 1; 0 for what is about the file as a whole. */
  readonly line: number;
  readonly reason: SessionIssueCode | 'no_header' | 'no_user_message';
  readonly detail: string;
}

export type ImportPlan =
  | { readonly ok: true; readonly turns: readonly SessionTurn[] }
  | { readonly ok: false; readonly problem: ImportProblem };

/**
 * What a session file becomes in a thread, or the first reason why it cannot.
 *
 * **Contract:** pure. A compaction is applied: its summary stands for what it summarised. Nothing of a file is left out silently
 * but lines of unknown types and states of extensions.
 */
export function planImport(lines: readonly NumberedLine[]): ImportPlan {
  const [first] = lines;
  if (first?.read.ok !== true) {
    const detail = first?.read.ok === false ? first.read.problem : 'the file is empty';
    return refused(first?.number ?? 0, first === undefined ? 'no_header' : 'malformed_json', detail);
  }
  if (first.read.line.type !== 'session')
    return refused(first.number, 'no_header', 'the first line is no session header');
  const issue = examineSession(lines).find(({ code }) => FATAL.has(code));
  if (issue !== undefined) return refused(issue.line, issue.code, issue.detail);
  return planTurns(historyOf(lines.flatMap(entryOf)));
}

/** The same for messages that stand in no file. */
export function planTurns(messages: readonly Message[]): ImportPlan {
  if (messages[0]?.role !== 'user') return refused(0, 'no_user_message', 'a conversation begins with a user’s message');
  const called = new Set<string>();
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'user') open.clear();
    for (const id of callsOf(message)) {
      if (called.has(id)) return refused(0, 'duplicate_tool_call', `the id ${id} is an earlier call’s`);
      called.add(id);
      open.add(id);
    }
    if (message.role === 'tool-result' && !open.delete(message.toolCallId)) {
      const detail = `in its turn no call ${message.toolCallId} waits for a result`;
      return refused(0, 'orphan_tool_result', detail);
    }
  }
  return { ok: true, turns: turnsOfHistory(messages) };
}

function callsOf(message: Message): string[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []));
}

function entryOf({ read }: NumberedLine): SessionEntry[] {
  if (!read.ok || read.line.type === 'session' || read.line.type === 'unknown') return [];
  return [read.line];
}

function refused(line: number, reason: ImportProblem['reason'], detail: string): ImportPlan {
  return { ok: false, problem: { line, reason, detail } };
}
